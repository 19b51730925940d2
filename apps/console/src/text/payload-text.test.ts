import { expect, it } from 'vitest';
import { hexOf, jsonText, prettyOf } from './payload-text.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

it('formats JSON and leaves everything else unchanged', () => {
  expect(prettyOf(bytes('{"a":[1]}'))).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(prettyOf(bytes('a=1&b=2'))).toBe('a=1&b=2');
});

it('changes only white space', () => {
  for (const value of [
    {},
    [],
    0,
    'a "b" \\ {c}, :',
    [[], {}, [{ a: [null, true, -1.5e3] }]],
    { 'x y': { z: '' } },
  ])
    expect(prettyOf(bytes(JSON.stringify(value)))).toBe(JSON.stringify(value, null, 2));
  expect(prettyOf(bytes('{"id": 12345678901234567890, "id": 1.10}'))).toBe(
    '{\n  "id": 12345678901234567890,\n  "id": 1.10\n}',
  );
  const deep = '['.repeat(50_000) + ']'.repeat(50_000);
  expect(prettyOf(bytes(deep))).toBe(deep);
  const indented = `${'['.repeat(99)}${'1,'.repeat(125_000)}1${']'.repeat(99)}`;
  expect(prettyOf(bytes(indented)).length).toBe(indented.length);
});

it('shows sixteen bytes per line, and a dot for bytes that cannot be printed', () => {
  expect(hexOf(bytes('0123456789abcdefé'))).toBe(
    '000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n' +
      `000010  c3 a9${' '.repeat(42)}  ..`,
  );
});

it('truncates large payloads', () => {
  expect(hexOf(new Uint8Array(20_000)).split('\n').at(-1)).toBe('… and 3616 bytes more');
});

it('shows values of any depth', () => {
  const nested = (depth: number, inner: unknown) => {
    let value = inner;
    for (let i = 0; i < depth; i++) value = [value];
    return value;
  };
  expect(jsonText({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(jsonText(undefined)).toBe('');
  expect(jsonText(nested(1000, Array(20_000).fill(1))).length).toBeLessThan(50_000);
  expect(jsonText(nested(100_000, 1))).toBe('This is nested too deep to be shown.');
});
