import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { createLogger, manualClock } from '@stak/kit';
import { expect, it } from 'vitest';
import * as limits from '../limits.ts';
import { createReaderWatch } from './reader-watch.ts';

const half = limits.unreadBytesAtOnce * limits.unreadShareOfOne;

function open(more: Partial<Parameters<typeof createReaderWatch>[0]> = {}) {
  const clock = manualClock();
  const log = createLogger({ clock, destination: { write: () => {} } });
  const watch = createReaderWatch({ clock, log, ...more });
  const connect = (remoteAddress: string, unreadBytes: number) => {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      bytesWritten: unreadBytes,
      writableLength: unreadBytes,
      destroyed: false,
      destroy: () => {
        socket.destroyed = true;
        socket.emit('close');
      },
    });
    watch.add(socket as unknown as Socket);
    return socket;
  };
  return { clock, connect };
}

it('drops the oldest responses that nobody reads where they take too much memory', async () => {
  const { clock, connect } = open();
  const sockets = [0.5, 0.5, 0.5].map(share => connect('192.0.2.1', half * share));
  const other = connect('192.0.2.2', half);
  await clock.advance(limits.checkMs);
  expect([...sockets, other].map(({ destroyed }) => destroyed)).toEqual([true, false, false, false]);
  const third = connect('192.0.2.3', half);
  await clock.advance(limits.checkMs);
  expect([...sockets, other, third].filter(({ destroyed }) => !destroyed)).toEqual([other, third]);
});

it('lets one address have all the memory there is, if told so', async () => {
  const { clock, connect } = open({ mostBytes: 4 * half, mostBytesOfOne: 4 * half });
  const sockets = Array.from({ length: 5 }, () => connect('127.0.0.1', half));
  await clock.advance(limits.checkMs);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false, false]);
});

it('drops nobody who reads, and does nothing without connections', async () => {
  const { clock, connect } = open();
  const reader = connect('192.0.2.1', 2 * half);
  for (let s = 0; s < 300; s++) {
    reader.bytesWritten += limits.readBytesPerS;
    await clock.advance(1000);
  }
  expect(reader.destroyed).toBe(false);
  await clock.advance(limits.unreadMs + ((2 * half) / limits.readBytesPerS) * 1000);
  expect(reader.destroyed).toBe(true);
  expect(clock.sleepers()).toBe(0);
});
