import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Answer, createAnswers, type Executor } from './answer.ts';
import { readBody } from './body.ts';
import type { Origins } from './cors.ts';
import type { ErrorLog } from './errors.ts';
import { answerMalformed } from './malformed.ts';
import { nextRequestId } from './request-id.ts';

export type { Executor } from './answer.ts';

/** Options of `createHttpServer`. */
export type HttpServerOptions = {
  host?: string;
  port?: number;
  region?: string;
  // Origins whose pages may call; `*` for all. Default: none.
  allowOrigins?: Origins;
  // Whether `/tables` is a page that shows the tables and their items. Default: false.
  showTables?: boolean;
  maxBodyBytes?: number;
  requestTimeoutMs?: number;
  closeTimeoutMs?: number;
  // Called with each new connection, for example to disconnect clients that do not read their responses.
  onConnection?(socket: Socket): void;
  log?: ErrorLog;
};

/** A server of the DynamoDB protocol. Created with `createHttpServer`. */
export type HttpServer = {
  listen(): Promise<{ port: number; url: string }>;
  close(): Promise<void>;
};

// DynamoDB's limit for one request (BatchWriteItem: 16 MB); above it, AWS responds with 413.
const requestBytes = 16 * 1024 * 1024;

/**
 * Serves an engine over the protocol of DynamoDB, for the AWS CLI and every SDK. With port 0, the system chooses one.
 *
 *     const server = createHttpServer(engine, { port: 8000 });
 *     const { url } = await server.listen();
 */
export function createHttpServer(executor: Executor, options: HttpServerOptions = {}): HttpServer {
  const { host = '127.0.0.1', port = 0, region = 'us-east-1', allowOrigins = [], log } = options;
  const {
    showTables: showsTables = false,
    maxBodyBytes = requestBytes,
    requestTimeoutMs = 60_000,
    closeTimeoutMs = 10_000,
  } = options;
  const answers = createAnswers(executor, { region, allowOrigins, maxBodyBytes, showsTables, log });

  // Every request counts twice: until its operation is done, and until its response is sent or the client is gone. A
  // client that leaves early must not let the engine close during its write.
  let pending = 0;
  let whenIdle: (() => void) | undefined;
  const answering = new WeakMap<Duplex, number>();

  const settle = () => {
    pending -= 1;
    if (pending === 0) whenIdle?.();
  };

  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: Math.min(requestTimeoutMs, 20_000),
      connectionsCheckingInterval: Math.min(requestTimeoutMs, 5_000),
      // Longer than the clients' own idle limits, so that a client never writes into a closing socket.
      keepAliveTimeout: 75_000,
      // Node would respond to this, and to what the two listeners below handle, in a form no AWS client understands.
      requireHostHeader: false,
    },
    accept,
  );
  if (options.onConnection) server.on('connection', options.onConnection);
  server.on('checkExpectation', accept);
  server.on('clientError', (error, socket) => {
    if (answering.get(socket)) socket.destroy();
    else answerMalformed(error, socket);
  });

  function accept(request: IncomingMessage, response: ServerResponse): void {
    pending += 2;
    response.on('close', settle);
    handle(request, response).then(settle, error => {
      log?.error({ err: error }, 'answer failed');
      response.destroy();
      settle();
    });
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, maxBodyBytes);
    if (body === 'aborted') return;
    if (body === 'too-large') {
      send(response, answers.refuseTooLarge(), true);
      return;
    }
    const { socket } = request;
    answering.set(socket, (answering.get(socket) ?? 0) + 1);
    send(response, await answers.answer(request, body), !server.listening);
    answering.set(socket, answering.get(socket)! - 1);
  }

  return {
    listen: () =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          const bound = (server.address() as AddressInfo).port;
          const name = host.includes(':') ? `[${host}]` : host;
          resolve({ port: bound, url: `http://${name}:${bound}` });
        });
      }),

    close: async () => {
      const closed = new Promise<void>((resolve, reject) => {
        server.close(error => (error ? reject(error) : resolve()));
      });
      if (pending > 0) {
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, closeTimeoutMs);
          whenIdle = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      server.closeAllConnections();
      await closed;
    },
  };
}

function send(response: ServerResponse, { status, type, body, headers: more }: Answer, last: boolean): void {
  const bytes = Buffer.from(body as string);
  const headers = [
    'x-amzn-RequestId',
    nextRequestId(),
    'x-amz-crc32',
    String(crc32(bytes)),
    'Content-Type',
    type,
    'Content-Length',
    String(bytes.length),
  ];
  if (more) headers.push(...more);
  if (last) headers.push('Connection', 'close');
  response.writeHead(status, headers);
  response.end(bytes);
}
