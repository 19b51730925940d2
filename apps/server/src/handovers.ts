import type { EventEmitter } from 'node:events';

// The primary of a cluster hands each connection to a worker and closes its own end when the worker says that it has
// it. For a worker that is killed in between nobody says anything: Node keeps the connection open for ever, and its
// client waits. Here such connections are found, and given to another worker.

type Connection = { close(): void };
type NewConnection = { cmd: 'NODE_CLUSTER'; act: 'newconn'; key: string; seq: number };
export type Child = EventEmitter & {
  connected: boolean;
  send(message: unknown, connection?: unknown, ...rest: unknown[]): boolean;
};

const isNewConnection = (message: unknown): message is NewConnection =>
  (message as NewConnection | null)?.cmd === 'NODE_CLUSTER' && (message as NewConnection).act === 'newconn';

// `findOther` gives a worker that serves, if there is one.
export function watchHandovers(child: Child, findOther: () => Child | undefined): void {
  const waiting = new Map<number, { message: NewConnection; connection: Connection }>();
  const send = child.send;
  child.send = (message, connection, ...rest) => {
    if (isNewConnection(message) && connection)
      waiting.set(message.seq, { message, connection: connection as Connection });
    return send.call(child, message, connection, ...rest);
  };
  child.on('internalMessage', ({ ack }: { ack?: number }) => {
    if (ack === undefined) return;
    // Node closes what it has handed over itself.
    if (ack < 0) waiting.get(ack)?.connection.close();
    waiting.delete(ack);
  });
  // After the last message. A worker that has not said that it has a connection has read nothing from it.
  child.once('disconnect', () => {
    for (const { message, connection } of waiting.values()) {
      const other = findOther();
      if (other?.connected) other.send({ ...message, seq: --lastSeq }, connection);
      else connection.close();
    }
    waiting.clear();
  });
}

let lastSeq = 0; // below zero: Node counts its own ones up
