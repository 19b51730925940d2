import { malformed } from './faults.ts';

type TokenType = 'word' | 'quoted' | 'string' | 'number' | 'symbol' | 'parameter' | 'end';
// The text of a quoted name or a string is what stands between its quotes.
export type Token = { type: TokenType; text: string; start: number; end: number };

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13);
const isDigit = (code: number) => code >= 48 && code <= 57;
const isLetter = (code: number) => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
const isNameStart = (code: number) => isLetter(code) || code === 95 || code === 36;
const isNamePart = (code: number) => isNameStart(code) || isDigit(code);

const symbols = new Set('( ) [ ] { } , . : ; = < > + - * << >> <= >= <> !='.split(' '));

export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let at = skipBlank(source, 0);
  while (at < source.length) {
    const token = nextToken(source, at);
    tokens.push(token);
    at = skipBlank(source, token.end);
  }
  tokens.push({ type: 'end', text: '', start: source.length, end: source.length });
  return tokens;
}

// White space, `-- …` to the end of the line, and block comments.
function skipBlank(source: string, start: number): number {
  let at = start;
  for (;;) {
    if (isSpace(source.charCodeAt(at))) at++;
    else if (source.startsWith('--', at)) at = endOf(source, '\n', at + 2) ?? source.length;
    else if (source.startsWith('/*', at)) {
      const end = endOf(source, '*/', at + 2);
      if (end === undefined) throw malformed();
      at = end;
    } else return at;
  }
}

function endOf(source: string, mark: string, from: number): number | undefined {
  const at = source.indexOf(mark, from);
  return at < 0 ? undefined : at + mark.length;
}

function nextToken(source: string, start: number): Token {
  const code = source.charCodeAt(start);
  if (isNameStart(code)) return wordAt(source, start);
  if (isDigit(code) || (code === 46 && isDigit(source.charCodeAt(start + 1)))) return numberAt(source, start);
  if (code === 39) return quotedAt('string', source, start, "'");
  if (code === 34) return quotedAt('quoted', source, start, '"');
  if (code === 63) return { type: 'parameter', text: '?', start, end: start + 1 };
  const pair = source.slice(start, start + 2);
  const text = symbols.has(pair) ? pair : source.charAt(start);
  if (!symbols.has(text)) throw malformed();
  return { type: 'symbol', text, start, end: start + text.length };
}

function wordAt(source: string, start: number): Token {
  let end = start + 1;
  while (isNamePart(source.charCodeAt(end))) end++;
  return { type: 'word', text: source.slice(start, end), start, end };
}

function numberAt(source: string, start: number): Token {
  let end = digitsFrom(source, start);
  if (source.charCodeAt(end) === 46) end = digitsFrom(source, end + 1);
  const mark = source.charCodeAt(end);
  if (mark === 101 || mark === 69) {
    const sign = source.charCodeAt(end + 1);
    const digits = sign === 43 || sign === 45 ? end + 2 : end + 1;
    if (isDigit(source.charCodeAt(digits))) end = digitsFrom(source, digits);
  }
  return { type: 'number', text: source.slice(start, end), start, end };
}

function digitsFrom(source: string, start: number): number {
  let end = start;
  while (isDigit(source.charCodeAt(end))) end++;
  return end;
}

// A doubled quote stands for itself.
function quotedAt(type: 'string' | 'quoted', source: string, start: number, quote: string): Token {
  let text = '';
  let from = start + 1;
  for (;;) {
    const close = source.indexOf(quote, from);
    if (close < 0) throw malformed();
    text += source.slice(from, close);
    if (source.charAt(close + 1) !== quote) return { type, text, start, end: close + 1 };
    text += quote;
    from = close + 2;
  }
}
