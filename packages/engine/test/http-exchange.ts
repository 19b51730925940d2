import { connect, type Socket } from 'node:net';
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';

export type Reply = { status: number; headers: Map<string, string>; body: string; bytes: Buffer };

export const signature =
  'AWS4-HMAC-SHA256 Credential=key/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0';

const json10 = 'application/x-amz-json-1.0';

export function signedHeaders(operation: string): Record<string, string> {
  const service = /Streams?$|GetRecords|ShardIterator/.test(operation) ? 'DynamoDBStreams' : 'DynamoDB';
  return {
    authorization: signature,
    'content-type': json10,
    'x-amz-target': `${service}_20120810.${operation}`,
  };
}

// The bytes of a whole request, so that a test can cut, repeat or damage them before they are sent.
export function requestBytes(headers: Record<string, string>, body: string | Uint8Array): Buffer {
  const bytes = Buffer.from(body as string);
  const all: Record<string, string> = {
    host: 'localhost',
    'content-length': String(bytes.length),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST / HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), bytes]);
}

export type Line = {
  socket: Socket;
  send(bytes: string | Uint8Array): void;
  receive(): Promise<Reply>;
  closed: Promise<void>;
};

// A raw connection that hands out replies in the order in which they arrive.
export async function openLine(port: number): Promise<Line> {
  const socket = connect(port, '127.0.0.1');
  let buffered = Buffer.alloc(0);
  let wake = () => {};
  let ended = false;
  socket.on('data', chunk => {
    buffered = Buffer.concat([buffered, chunk]);
    wake();
  });
  // A server that hangs up on nonsense resets the connection; the reply before that is what counts.
  socket.on('error', () => {});
  const closed = new Promise<void>(resolve => {
    socket.on('close', () => {
      ended = true;
      wake();
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });

  const receive = async (): Promise<Reply> => {
    for (;;) {
      const taken = takeReply(buffered);
      if (taken) {
        buffered = buffered.subarray(taken.length);
        return taken.reply;
      }
      if (ended) throw new Error(`the server hung up after ${JSON.stringify(buffered.toString())}`);
      await new Promise<void>(resolve => {
        wake = resolve;
      });
    }
  };
  return { socket, closed, receive, send: bytes => void socket.write(bytes) };
}

function takeReply(buffer: Buffer): { reply: Reply; length: number } | undefined {
  const end = buffer.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [first, ...lines] = buffer.toString('latin1', 0, end).split('\r\n');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const length = end + 4 + Number(headers.get('content-length') ?? 0);
  if (buffer.length < length) return undefined;
  const reply = {
    status: Number(first!.split(' ')[1]),
    headers,
    body: buffer.toString('utf8', end + 4, length),
    bytes: Buffer.from(buffer.subarray(end + 4, length)),
  };
  return { reply, length };
}

export async function exchange(port: number, bytes: string | Uint8Array): Promise<Reply> {
  const line = await openLine(port);
  line.send(bytes);
  try {
    return await line.receive();
  } finally {
    line.socket.destroy();
  }
}

export const call = (port: number, operation: string, body: unknown): Promise<Reply> =>
  exchange(
    port,
    requestBytes(signedHeaders(operation), typeof body === 'string' ? body : JSON.stringify(body)),
  );

// A client library relies on this in every answer, good or bad.
export function expectWellFormed(reply: Reply): void {
  expect(reply.headers.get('x-amzn-requestid')).toMatch(/^[0-9A-V]{52}$/);
  expect(reply.headers.get('x-amz-crc32')).toBe(String(crc32(reply.body)));
  if (reply.status === 404) {
    expect(reply.body).toBe('<UnknownOperationException/>\n');
    return;
  }
  expect(reply.headers.get('content-type')).toMatch(/^application\/(x-amz-json-1\.[01]|json)$/);
  const json: unknown = JSON.parse(reply.body);
  expect(json).toBeTypeOf('object');
  if (reply.status !== 200) {
    expect(reply.status).toBeGreaterThanOrEqual(400);
    expect(json).toHaveProperty('__type', expect.stringMatching(/^com\.amazon(aws)?\.[a-z0-9.]+#[A-Za-z]+$/));
  }
}

export const typeOf = (reply: Reply): string => (JSON.parse(reply.body) as { __type: string }).__type;
