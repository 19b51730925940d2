import { expect, it } from 'vitest';
import { readOrigins } from './origins.ts';

it('parses one origin, several, or none', () => {
  expect(readOrigins(undefined)).toEqual([]);
  expect(readOrigins('')).toEqual([]);
  expect(readOrigins('http://localhost:5173, https://a.example')).toEqual([
    'http://localhost:5173',
    'https://a.example',
  ]);
  expect(readOrigins(['*', 'http://b.example'])).toEqual(['*', 'http://b.example']);
});

it.each(['localhost:5173', 'http://a.example/', 'http://a.example/path', 'a'])('refuses %s', text => {
  expect(() => readOrigins(text)).toThrow('is no origin');
});
