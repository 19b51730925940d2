import { manualClock } from '@stak/kit';
import { expect, test } from 'vitest';
import { toStream } from './download.ts';

// A download of two parts, and whether its place is free again.
function open() {
  const clock = manualClock();
  let ended = 0;
  async function* parts() {
    yield new Uint8Array([1]);
    yield new Uint8Array([2]);
  }
  const stream = toStream(parts(), clock, () => {
    ended += 1;
  });
  return { clock, stream, reader: stream.getReader(), ended: () => ended };
}

test('a download ends once, with its last part', async () => {
  const { reader, ended } = open();
  expect((await reader.read()).value).toEqual(new Uint8Array([1]));
  expect((await reader.read()).value).toEqual(new Uint8Array([2]));
  expect(ended()).toBe(0);
  expect((await reader.read()).done).toBe(true);
  expect(ended()).toBe(1);
});

test('a client that disconnects before the first part does not block other downloads', async () => {
  const { reader, ended } = open();
  await reader.cancel();
  expect(ended()).toBe(1);
});

test('a client that stops reading does not block other downloads', async () => {
  const { clock, reader, ended } = open();
  await reader.read();
  await clock.advance(60_000);
  expect(ended()).toBe(1);
  await expect(reader.read()).rejects.toThrow('not read');
});
