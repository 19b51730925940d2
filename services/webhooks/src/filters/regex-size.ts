export type PatternSize = {
  size: number; // about how many instructions it has before RE2 optimises it
  foldedChars: number; // in ranges that ignore case: RE2 looks up each of them
  unicodeClasses: number; // each has hundreds of ranges
};

type Group = { size: number; last: number }; // `last` is the part of `size` that a repetition would repeat

// One pass over the text, without building a tree. It parses just enough of the syntax to multiply repetitions; for patterns
// that RE2 refuses, any result will do.
export function measurePattern(pattern: string): PatternSize {
  const chars = [...pattern];
  const ignoresCase = /\(\?[a-zA-Z]*i/.test(pattern);
  const open: Group[] = [{ size: 0, last: 0 }];
  let foldedChars = 0;
  let unicodeClasses = 0;
  const group = () => open[open.length - 1]!;
  const add = (size: number) => {
    group().size += size;
    group().last = size;
  };
  const repeat = (times: number) => {
    const { last } = group();
    group().size += last * (times - 1) + 1;
    group().last = last * times + 1;
  };

  for (let at = 0; at < chars.length; at += 1) {
    const char = chars[at]!;
    if (char === '\\') {
      const escaped = readEscape(chars, at);
      unicodeClasses += escaped.isClass ? 1 : 0;
      add(escaped.size);
      at = escaped.end;
    } else if (char === '[') {
      const found = readClass(chars, at);
      unicodeClasses += found.unicodeClasses;
      if (ignoresCase) foldedChars += found.rangeChars;
      add(1);
      at = found.end;
    } else if (char === '(') open.push({ size: 2, last: 0 });
    else if (char === ')' && open.length > 1) add(open.pop()!.size);
    else if (char === '*' || char === '+' || char === '?') repeat(1);
    else if (char === '{') {
      const counted = readCount(chars, at);
      if (counted) {
        repeat(counted.times);
        at = counted.end;
      } else add(1);
    } else add(1);
  }
  const size = open.reduce((sum, one) => sum + one.size, 0);
  return { size, foldedChars, unicodeClasses };
}

// `\d`, `\x{10FFFF}`, `\pL`, `\p{Greek}`, and `\Q…\E`, which is literal text.
function readEscape(chars: readonly string[], at: number): { end: number; size: number; isClass: boolean } {
  const letter = chars[at + 1] ?? '';
  const isClass = letter === 'p' || letter === 'P';
  if (letter === 'Q') {
    let end = at + 2;
    while (end < chars.length && !(chars[end] === '\\' && chars[end + 1] === 'E')) end += 1;
    return { end: end + 1, size: end - at - 2, isClass };
  }
  if ((isClass || letter === 'x') && chars[at + 2] === '{') {
    const end = chars.indexOf('}', at);
    return { end: end < 0 ? chars.length : end, size: 1, isClass };
  }
  return { end: at + 1, size: 1, isClass };
}

function readClass(chars: readonly string[], start: number) {
  let at = start + 1;
  if (chars[at] === '^') at += 1;
  let rangeChars = 0;
  let unicodeClasses = 0;
  const readChar = (): number => {
    if (chars[at] !== '\\') {
      at += 1;
      return chars[at - 1]?.codePointAt(0) ?? 0;
    }
    const { end, isClass } = readEscape(chars, at);
    unicodeClasses += isClass ? 1 : 0;
    const text = chars.slice(at + 1, end + 1).join('');
    at = end + 1;
    const hex = /^x\{?([0-9a-fA-F]{1,6})/.exec(text)?.[1];
    return hex === undefined ? (text.codePointAt(0) ?? 0) : Number.parseInt(hex, 16);
  };
  for (let isFirst = true; at < chars.length && (isFirst || chars[at] !== ']'); isFirst = false) {
    const low = readChar();
    if (chars[at] !== '-' || chars[at + 1] === ']' || at + 1 >= chars.length) continue;
    at += 1;
    rangeChars += Math.max(0, readChar() - low);
  }
  return { end: at, rangeChars, unicodeClasses };
}

function readCount(chars: readonly string[], at: number): { end: number; times: number } | undefined {
  const text = chars.slice(at, at + 12).join('');
  const found = /^\{(\d{1,4})(?:,(\d{0,4}))?\}/.exec(text);
  if (!found) return undefined;
  const [all, least, most] = found;
  return { end: at + all.length - 1, times: Math.max(1, Number(least), Number(most ?? 0)) };
}
