import { expect, it } from 'vitest';
import { tableText, withoutCommands } from './print.ts';

const hostile = 'paid\u001b]0;renamed\u0007\u001b[2J\u009b1A';

it('a table aligns its columns, and has no commands for the terminal', () => {
  const text = tableText([
    ['id', 'title'],
    ['1', hostile],
    ['2', 'sent'],
  ]);
  expect(text.split('\n')).toEqual(['id  title', '1   paid]0;renamed[2J1A', '2   sent']);
});

it('a text keeps its lines', () => {
  expect(withoutCommands('a\n\tb\r')).toBe('a\n\tb');
});
