import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export type Answer = { status: number; body: Buffer };

// One connection, one request at a time. A client that does more costs as much as the server it measures; on two cores
// the faster response would then wait for the client, and look slower than it is.
export type Connection = {
  send(request: Buffer): Promise<Answer>;
  isOpen(): boolean; // a server closes idle connections
  close(): void;
};

export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  return overSocket(socket);
}

type Waiting = { resolve(answer: Answer): void; reject(error: Error): void };

function overSocket(socket: Socket): Connection {
  let received: Buffer = Buffer.alloc(0);
  let waiting: Waiting | undefined;
  const fail = (error: Error) => {
    waiting?.reject(error);
    waiting = undefined;
  };
  socket.on('data', chunk => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    try {
      const answer = parseAnswer(received);
      if (!answer) return;
      received = Buffer.alloc(0);
      waiting?.resolve(answer);
      waiting = undefined;
    } catch (error) {
      fail(error as Error);
      socket.destroy();
    }
  });
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server hung up')));
  return {
    send: request =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error('the server hung up'));
        waiting = { resolve, reject };
        socket.write(request);
      }),
    isOpen: () => !socket.destroyed,
    close: () => void socket.destroy(),
  };
}

const statusAt = 'HTTP/1.1 '.length;
const lengthHeader = '\r\ncontent-length: ';

// The response, or undefined while it is incomplete. Supports what our server sends: a length, never chunks.
export function parseAnswer(received: Buffer): Answer | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = received.toString('latin1', 0, headEnd).toLowerCase();
  const status = Number(head.slice(statusAt, statusAt + 3));
  const at = head.indexOf(lengthHeader);
  if (at < 0 && status !== 204 && status !== 304) throw new Error(`an answer without a length: ${head}`);
  const length = at < 0 ? 0 : Number.parseInt(head.slice(at + lengthHeader.length), 10);
  const from = headEnd + 4;
  if (received.length < from + length) return undefined;
  return { status, body: received.subarray(from, from + length) };
}
