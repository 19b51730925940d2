import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Listening, type ListenSettings, listen } from '../src/index.ts';
import { recordingLog, type Shelf } from './shelf-service.ts';

// A real server for one test, closed with it.
export async function serve(
  shelf: Shelf,
  settings: Partial<ListenSettings> = {},
): Promise<Listening & { url: string }> {
  const { log } = recordingLog(shelf.clock);
  const listening = await listen(shelf.api, { port: 0, clock: shelf.clock, log, ...settings });
  onTestFinished(async () => {
    const closing = listening.close();
    for (let isClosed = false; !isClosed; ) {
      // The clock stands still: only this lets the deadline of a drain pass.
      await shelf.clock.advance(10_000);
      isClosed = await Promise.race([
        closing.then(() => true),
        new Promise<false>(done => setImmediate(done, false)),
      ]);
    }
  });
  return { ...listening, url: `http://127.0.0.1:${listening.port}` };
}

// Bytes over a socket, as no client library would send them.
export function openSocket(port: number): {
  socket: Socket;
  closed: Promise<string>;
  until(text: string): Promise<string>;
} {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  const listeners = new Set<(data: string) => void>();
  socket.on('data', bytes => {
    const data = bytes.toString('latin1');
    received += data;
    for (const listener of listeners) listener(data);
  });
  socket.on('error', () => {}); // a reset is a way to be hung up on
  onTestFinished(() => void socket.destroy());
  const until = (text: string) =>
    new Promise<string>(resolve => {
      let tail = ''; // what was received may be long, and most of it was searched before
      const check = (data: string) => {
        tail = tail.slice(-text.length) + data;
        if (!tail.includes(text)) return;
        listeners.delete(check);
        resolve(received);
      };
      listeners.add(check);
      check(received);
    });
  return { socket, until, closed: new Promise(resolve => socket.once('close', () => resolve(received))) };
}

export const exchange = (port: number, ...lines: string[]): Promise<string> => {
  const { socket, closed } = openSocket(port);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return closed;
};
