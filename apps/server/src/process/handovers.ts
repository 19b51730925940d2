import type { EventEmitter } from 'node:events';

// The primary of a cluster passes each connection to a worker and closes its own end when the worker acknowledges it.
// If a worker is killed in between, there is no acknowledgement: Node keeps the connection open for ever, and its
// client waits. This finds such connections, and passes them to another worker. A worker that has just stopped listening
// refuses a connection, and Node queues it for the others: if none of them listens any more, this closes it.

type Connection = { close(): void };
type NewConnection = { cmd: 'NODE_CLUSTER'; act: 'newconn'; key: string; seq: number };
type FromNode = { act?: string; key?: string; ack?: number; accepted?: boolean };
export type Child = EventEmitter & {
  connected: boolean;
  send(message: unknown, connection?: unknown, ...rest: unknown[]): boolean;
};

const isNewConnection = (message: unknown): message is NewConnection =>
  (message as NewConnection | null)?.cmd === 'NODE_CLUSTER' && (message as NewConnection).act === 'newconn';

// `findOther` returns a serving worker, if there is one.
export function createHandovers(findOther: () => Child | undefined) {
  const closed = new Map<Child, Set<string>>(); // the ports where a worker listens no longer, by Node's keys
  const isClosed = (key: string) => [...closed.values()].every(keys => keys.has(key));

  function watch(child: Child): void {
    const waiting = new Map<number, { message: NewConnection; connection: Connection }>();
    const closedHere = new Set<string>();
    closed.set(child, closedHere);
    const send = child.send;
    child.send = (message, connection, ...rest) => {
      if (isNewConnection(message) && connection)
        waiting.set(message.seq, { message, connection: connection as Connection });
      return send.call(child, message, connection, ...rest);
    };
    child.on('internalMessage', ({ act, key, ack, accepted }: FromNode) => {
      if (act === 'close' && key !== undefined) closedHere.add(key);
      if (act === 'queryServer') closedHere.clear(); // it listens again
      if (ack === undefined) return;
      const handover = waiting.get(ack);
      waiting.delete(ack);
      if (!handover) return;
      const isLeft = accepted === false && isClosed(handover.message.key);
      // Node closes the accepted connections that it has passed on itself.
      if (ack < 0 || isLeft) handover.connection.close();
    });
    // After the last message. A worker that has not acknowledged a connection has read nothing from it.
    child.once('disconnect', () => {
      closed.delete(child);
      for (const { message, connection } of waiting.values()) {
        const other = findOther();
        if (other?.connected) other.send({ ...message, seq: --lastSeq }, connection);
        else connection.close();
      }
      waiting.clear();
    });
  }
  return { watch };
}

let lastSeq = 0; // negative, because Node's own are positive
