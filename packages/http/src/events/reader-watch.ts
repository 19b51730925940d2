import type { Socket } from 'node:net';
import type { Cancel, Clock, Logger } from '@stak/kit';
import * as limits from '../limits.ts';
import { addressKey, clientAddress } from '../routes/address.ts';

export type ReaderWatch = {
  add(socket: Socket): void; // watched until it closes
};

// `sentBytes` are those of finished writes: Node does not say how much of an unfinished one has left.
type Reader = { sentBytes: number; patienceMs: number };
type Stalled = { socket: Socket; unreadBytes: number };

type ReaderWatchDeps = {
  clock: Clock;
  log: Logger;
  mostBytes?: number; // of all responses that nobody reads
  mostBytesOfOne?: number; // of those to one address
};

const msToRead = (bytes: number): number => (bytes / limits.readBytesPerS) * 1000;

// Disconnects clients that do not read: their responses would stay in memory, and streamed ones would keep what they
// are made from. A client may pause for a while, and otherwise has to read at a rate that every network reaches. Event
// streams are no exception: a client that reads has read the last heartbeat.
export function createReaderWatch({
  clock,
  log,
  mostBytes = limits.unreadBytesAtOnce,
  mostBytesOfOne = mostBytes * limits.unreadShareOfOne,
}: ReaderWatchDeps): ReaderWatch {
  const readers = new Map<Socket, Reader>(); // in the order in which they connected
  let cancel: Cancel = () => {};

  const check = () => {
    const late: Socket[] = [];
    const stalled: Stalled[] = [];
    for (const [socket, reader] of readers) {
      const unreadBytes = socket.writableLength;
      const sentBytes = socket.bytesWritten - unreadBytes;
      const newBytes = sentBytes - reader.sentBytes;
      reader.sentBytes = sentBytes;
      if (unreadBytes === 0) {
        reader.patienceMs = limits.unreadMs;
        continue;
      }
      reader.patienceMs = Math.min(limits.unreadMs, reader.patienceMs + msToRead(newBytes)) - limits.checkMs;
      if (reader.patienceMs + msToRead(unreadBytes) <= 0) late.push(socket);
      else if (newBytes === 0) stalled.push({ socket, unreadBytes });
    }
    const dropped = [...late, ...beyondMemory(stalled, mostBytes, mostBytesOfOne)];
    for (const socket of dropped) socket.destroy();
    if (dropped.length > 0)
      log.info({ connections: dropped.length }, 'disconnected clients that did not read their responses');
    if (readers.size > 0) watch();
  };
  const watch = () => {
    cancel = clock.after(limits.checkMs, check);
  };

  return {
    add(socket) {
      if (readers.size === 0) watch();
      readers.set(socket, { sentBytes: 0, patienceMs: limits.unreadMs });
      socket.once('close', () => {
        readers.delete(socket);
        if (readers.size === 0) cancel();
      });
    },
  };
}

// The oldest connections that do not move, if they hold more memory than there is for them, or one address too much of
// it.
function beyondMemory(stalled: readonly Stalled[], most: number, mostOfOne: number): Socket[] {
  const byAddress = new Map<string, number>();
  let total = 0;
  const isBeyond = ({ socket, unreadBytes }: Stalled): boolean => {
    const address = addressKey(clientAddress(socket.remoteAddress, undefined, 0));
    const ofOne = (byAddress.get(address) ?? 0) + unreadBytes;
    if (total + unreadBytes > most || ofOne > mostOfOne) return true;
    total += unreadBytes;
    byAddress.set(address, ofOne);
    return false;
  };
  return stalled
    .toReversed()
    .filter(isBeyond)
    .map(({ socket }) => socket);
}
