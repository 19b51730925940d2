import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { createLogger, manualClock } from '@stak/kit';
import { expect, it } from 'vitest';
import * as limits from './limits.ts';
import { createReaderWatch } from './reader-watch.ts';

const half = limits.unreadBytesAtOnce * limits.unreadShareOfOne;

function open() {
  const clock = manualClock();
  const watch = createReaderWatch({ clock, log: createLogger({ clock, destination: { write: () => {} } }) });
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
