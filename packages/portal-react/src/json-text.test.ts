import { expect, it } from 'vitest';
import { jsonText } from './json-text.ts';

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value, 1];
  return value;
};

it('indents what is small, and takes no more room for what is deep', () => {
  expect(jsonText({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(jsonText(nested(2000)).length).toBeLessThan(10_000);
  expect(jsonText(nested(100_000))).toBe('This is nested too deep to be shown.');
});
