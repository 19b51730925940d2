import { expect, test } from 'vitest';
import { readTogether } from './read-together.ts';

// Reads that end when the test says so.
function open() {
  const begun: { key: string; end(answer: string): void; fail(error: Error): void }[] = [];
  const read = readTogether(
    (key: string) =>
      new Promise<string>((end, fail) => {
        begun.push({ key, end, fail });
      }),
  );
  return { begun, read };
}

test('a read that arrives during another one is answered by the next', async () => {
  const { begun, read } = open();
  const first = read('a');
  const later = [read('a'), read('a')];
  const other = read('b');
  expect(begun.map(({ key }) => key)).toEqual(['a', 'b']);
  begun[1]!.end('of b');
  begun[0]!.end('old');
  expect(await Promise.all([first, other])).toEqual(['old', 'of b']);
  expect(begun).toHaveLength(3);
  const last = read('a');
  begun[2]!.end('new');
  expect(await Promise.all(later)).toEqual(['new', 'new']);
  begun[3]!.end('newer');
  expect(await last).toBe('newer');
});

test('a failed read fails the calls that shared it, and no later ones', async () => {
  const { begun, read } = open();
  const first = read('a');
  const later = read('a');
  begun[0]!.fail(new Error('busy'));
  await expect(first).rejects.toThrow('busy');
  begun[1]!.end('fine');
  expect(await later).toBe('fine');
});
