const readingWords: ReadonlySet<string> = new Set([
  'select',
  'with',
  'from',
  'values',
  'describe',
  'summarize',
  'show',
  'pivot',
  'unpivot',
]);

// Whether a statement reads: decided by its first word, after spaces and comments. DuckDB decides everything else,
// without access to files or settings. One pass over the text, at any nesting: this runs on the thread that serves all
// requests.
export function beginsReading(sql: string): boolean {
  const at = skipComments(sql);
  if (sql[at] === '(') return true;
  const word = /[a-z]*(?![\w$])/iy;
  word.lastIndex = at;
  return readingWords.has(word.exec(sql)?.[0].toLowerCase() ?? '');
}

// Where the first word begins. Like PostgreSQL, whose lexer DuckDB uses: comments nest, a line ends with either kind of
// line break, and an unterminated comment covers the rest of the text.
function skipComments(sql: string): number {
  let at = 0;
  while (at < sql.length) {
    if (isSpace(sql[at]!)) at += 1;
    else if (sql.startsWith('--', at)) at = endOfLine(sql, at);
    else if (sql.startsWith('/*', at)) at = endOfComment(sql, at);
    else break;
  }
  return at;
}

const isSpace = (char: string): boolean => ' \t\n\r\f\v'.includes(char) || (char > '\x7f' && /\s/.test(char));

function endOfLine(sql: string, start: number): number {
  let at = start;
  while (at < sql.length && sql[at] !== '\n' && sql[at] !== '\r') at += 1;
  return at;
}

function endOfComment(sql: string, start: number): number {
  let at = start;
  let depth = 0;
  do {
    if (sql.startsWith('/*', at)) depth += 1;
    else if (sql.startsWith('*/', at)) depth -= 1;
    else {
      at += 1;
      continue;
    }
    at += 2;
  } while (depth > 0 && at < sql.length);
  return at;
}
