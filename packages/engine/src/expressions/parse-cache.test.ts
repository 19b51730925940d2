import { expect, test } from 'vitest';
import { cacheParse } from './parse-cache.ts';

test('repeated texts are parsed once, others are evicted', () => {
  const parsed: string[] = [];
  const parse = cacheParse(source => {
    parsed.push(source);
    return { source };
  });
  const ask = (source: string) => parse(source, 'FilterExpression');
  const hot = ask('hot');
  const cold = ask('cold');
  for (let i = 0; i < 1000; i++) {
    ask(`${i}`.padEnd(4096));
    expect(ask('hot')).toBe(hot);
  }
  expect(ask('cold')).not.toBe(cold);
  expect(parsed.filter(source => source === 'hot')).toHaveLength(1);
  expect(parsed).toHaveLength(1003);
});

test('invalid texts are not cached', () => {
  let calls = 0;
  const parse = cacheParse(() => {
    calls++;
    throw new Error('no');
  });
  expect(() => parse('x', 'FilterExpression')).toThrow();
  expect(() => parse('x', 'FilterExpression')).toThrow();
  expect(calls).toBe(2);
});
