export type TokenType = 'word' | 'name' | 'value' | 'number' | 'symbol' | 'unknown' | 'end';
export type Token = { type: TokenType; text: string; start: number; end: number };

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);
const isDigit = (code: number) => code >= 48 && code <= 57;
const isLetter = (code: number) => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
const isNamePart = (code: number) => isLetter(code) || isDigit(code) || code === 95;

const symbols = new Set(['(', ')', '[', ']', ',', '.', '=', '<', '>', '+', '-', '<=', '>=', '<>']);

// A character that starts no token becomes a token, so that the parser reports it in its place. That includes `_`: a
// plain name starts with a letter.
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    if (isSpace(source.charCodeAt(at))) {
      at++;
      continue;
    }
    const token = nextToken(source, at);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ type: 'end', text: '<EOF>', start: source.length, end: source.length });
  return tokens;
}

function nextToken(source: string, start: number): Token {
  const code = source.charCodeAt(start);
  if (isLetter(code)) return run('word', source, start, isNamePart);
  if (isDigit(code)) return run('number', source, start, isDigit);
  if ((code === 35 || code === 58) && isNamePart(source.charCodeAt(start + 1))) {
    return run(code === 35 ? 'name' : 'value', source, start, isNamePart);
  }
  const pair = source.slice(start, start + 2);
  const text = symbols.has(pair) ? pair : String.fromCodePoint(source.codePointAt(start)!);
  return { type: symbols.has(text) ? 'symbol' : 'unknown', text, start, end: start + text.length };
}

function run(type: TokenType, source: string, start: number, belongs: (code: number) => boolean): Token {
  let end = start + 1;
  while (end < source.length && belongs(source.charCodeAt(end))) end++;
  return { type, text: source.slice(start, end), start, end };
}
