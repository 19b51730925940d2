import type { EventEmitter } from 'node:events';

// The primary of a cluster passes each connection to a worker and closes its own end when the worker acknowledges it.
// If a worker is killed in between, there is no acknowledgement: Node keeps the connection open for ever, and its
// client waits. This finds such connections, and passes them to another worker.

type Connection = { close(): void };
type NewConnection = { cmd: 'NODE_CLUSTER'; act: 'newconn'; key: string; seq: number };
export type Child = EventEmitter & {
  connected: boolean;
  send(message: unknown, connection?: unknown, ...rest: unknown[]): boolean;
};

const isNewConnection = (message: unknown): message is NewConnection =>
  (message as NewConnection | null)?.cmd === 'NODE_CLUSTER' && (message as NewConnection).act === 'newconn';

// `findOther` returns a serving worker, if there is one.
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
    // Node closes the connections that it has passed on itself.
    if (ack < 0) waiting.get(ack)?.connection.close();
    waiting.delete(ack);
  });
  // After the last message. A worker that has not acknowledged a connection has read nothing from it.
  child.once('disconnect', () => {
    for (const { message, connection } of waiting.values()) {
      const other = findOther();
      if (other?.connected) other.send({ ...message, seq: --lastSeq }, connection);
      else connection.close();
    }
    waiting.clear();
  });
}

let lastSeq = 0; // negative, because Node's own are positive
