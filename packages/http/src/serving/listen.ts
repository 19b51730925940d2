import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener, RequestError } from '@hono/node-server';
import { type Clock, createIds, hostChars, type Logger, parseUrl } from '@stak/kit';
import { type HttpErrorCode, httpErrors } from '../errors.ts';
import { createReaderWatch } from '../events/reader-watch.ts';
import * as limits from '../limits.ts';
import { problemOf, problemType } from '../problem.ts';
import { addressKey, clientAddress } from '../routes/address.ts';
import { OutgoingAnswer } from './outgoing-answer.ts';
import type { ServePlain } from './plain-serving.ts';

type HttpServer = Server<typeof IncomingMessage, typeof OutgoingAnswer>;
type Listenable = {
  app: { fetch: Parameters<typeof getRequestListener>[0] };
  servePlain?: ServePlain; // asked before the app
  drain(): void;
  stop(): void;
};

export type ListenSettings = {
  host?: string;
  port: number;
  signal?: AbortSignal; // when it is aborted the server drains
  clock: Clock;
  log: Logger;
  // How long to continue while /readyz fails, before it closes: until proxies have noticed.
  lameDuckMs?: number;
  drainMs?: number;
  headersMs?: number;
  requestMs?: number;
  checkMs?: number;
  connections?: number;
  // Undefined behind our own proxy: all its connections have one address.
  connectionsPerAddress?: number;
};

export type Listening = {
  host: string;
  port: number;
  // Makes /readyz fail. After `lameDuckMs` it stops accepting connections, lets requests in flight finish and ends
  // event streams; after `drainMs` it disconnects. With `isAtOnce`, without the first wait. Returns how many requests
  // had arrived and had no answer yet: they may still be at work.
  close(options?: { isAtOnce?: boolean }): Promise<number>;
  closed: Promise<void>;
};

// Each open connection: the response in progress, the last one if requests are pipelined, and how many wait for it.
// Entries come and go with connections, not with requests: a Set that gains and loses one for each request is rebuilt
// all the time, and the tables V8 discards keep their contents from being collected early.
type Connections = Map<Socket, { response?: ServerResponse | undefined; waiting: number }>;

export async function listen(api: Listenable, settings: ListenSettings): Promise<Listening> {
  const { host = '127.0.0.1', port, signal, clock, log, lameDuckMs = 0, drainMs = limits.drainMs } = settings;
  const ids = createIds({ clock });
  const connections: Connections = new Map();
  const readers = createReaderWatch({ clock, log });
  const answer = getRequestListener(api.app.fetch, {
    // The app handles its own errors: what arrives here is an invalid URL or host.
    errorHandler: error => {
      const requestId = ids.next('req');
      const code = error instanceof RequestError ? 'http.request_invalid' : 'http.internal';
      log[code === 'http.internal' ? 'error' : 'debug']({ err: error, request_id: requestId }, 'no request');
      const { status, headers, body } = refusalOf(code, requestId);
      return new Response(body, { status, headers });
    },
  });
  const server = createServer(
    {
      ServerResponse: OutgoingAnswer,
      maxHeaderSize: limits.headerBytes,
      requireHostHeader: false, // Node's own response is not problem+json; the listener's is
      headersTimeout: settings.headersMs ?? limits.headersMs,
      requestTimeout: settings.requestMs ?? limits.requestMs,
      connectionsCheckingInterval: settings.checkMs ?? limits.checkMs,
      keepAliveTimeout: limits.keepAliveMs,
    },
    (request, response) => {
      const { socket } = request;
      const connection = connections.get(socket);
      if (!connection || socket.destroyed) return; // refused, and about to be closed
      // HTTP/1.0 has no Host header, and many health checks use it. Not a name of this machine, which would be trusted
      // more.
      if (request.httpVersion === '1.0') request.headers.host ??= 'unknown.invalid';
      const previous = connection.response;
      connection.response = response;
      // A connection that closes with its response cannot receive another request while we stop.
      if (draining) response.shouldKeepAlive = false;
      response.once('close', () => {
        if (connection.response === response) connection.response = undefined;
      });
      if (!previous) return serve(request, response);
      // One at a time: the responses to a client that does not read would all be in memory.
      if (++connection.waiting > limits.requestsWaiting) return void socket.destroy();
      previous.once('close', () => {
        connection.waiting -= 1;
        if (!socket.destroyed) serve(request, response);
      });
    },
  );
  const serve = (request: IncomingMessage, response: OutgoingAnswer) => {
    if (hasLongHost(request) || hasTwoHosts(request)) return refuseRequest(response, ids.next('req'));
    if (api.servePlain?.(request, response)) return;
    answer(request, response).catch((error: unknown) => abandon(error, request, response));
  };
  const most = settings.connections ?? limits.connections;
  server.maxConnections = most;
  const addresses = createAddressWatch(connections);
  const isLimited = settings.connectionsPerAddress !== undefined;
  server.on('connection', socket => {
    if (isLimited && addresses.count(socket) >= settings.connectionsPerAddress!)
      return refuseConnection('http.rate_limited', socket, ids.next('req'));
    if (isLimited && connections.size >= most * limits.crowdedShare) addresses.makeRoom();
    connections.set(socket, { waiting: 0 });
    addresses.add(socket);
    socket.once('close', () => connections.delete(socket));
    readers.add(socket);
  });
  server.on('clientError', (error: ClientError, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    refuseConnection(codeOf(error), socket, ids.next('req'));
  });

  const abandon = (error: unknown, request: IncomingMessage, response: ServerResponse) => {
    log.error({ err: error, path: request.url }, 'a response could not be written');
    response.destroy();
  };

  let draining: Promise<number> | undefined;
  await start(server, host, port);
  let settle = () => {};
  const closed = new Promise<void>(resolve => {
    settle = resolve;
  });
  const close = ({ isAtOnce = false } = {}) => {
    draining ??= waitAsLameDuck(isAtOnce ? 0 : lameDuckMs).then(() =>
      drain(server, connections, api, { clock, log, drainMs }).finally(settle),
    );
    return draining;
  };
  const waitAsLameDuck = async (waitMs: number) => {
    api.drain();
    if (waitMs > 0) await clock.sleep(waitMs);
  };
  if (signal?.aborted) close();
  signal?.addEventListener('abort', () => void close(), { once: true });
  return { host, port: (server.address() as AddressInfo).port, close, closed };
}

const start = (server: HttpServer, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

async function drain(
  server: HttpServer,
  connections: Connections,
  api: Listenable,
  { clock, log, drainMs }: { clock: Clock; log: Logger; drainMs: number },
): Promise<number> {
  const allClosed = new Promise<void>(resolve => server.close(() => resolve()));
  // A keep-alive connection would outlast its current response.
  for (const [socket, { response }] of connections) {
    // Browsers connect in advance. Node considers a connection idle only after its first request.
    if (!response && socket.bytesRead === 0) socket.destroy();
    if (!response) continue;
    if (!response.headersSent) response.setHeader('Connection', 'close');
    response.once('close', () => setImmediate(() => server.closeIdleConnections()));
  }
  api.stop();
  let unanswered = 0;
  const isDrained = new AbortController();
  const deadline = clock.sleep(drainMs, isDrained.signal).then(
    () => {
      const left = [...connections.values()].flatMap(({ response }) => response ?? []);
      unanswered = left.filter(({ headersSent, req }) => !headersSent && req.complete).length;
      log.warn({ requests: left.length }, 'hung up on requests that did not finish in time');
      server.closeAllConnections();
    },
    () => {},
  );
  await Promise.race([allClosed, deadline]);
  isDrained.abort();
  await allClosed;
  return unanswered;
}

const details: Partial<Record<HttpErrorCode, string>> = {
  'http.headers_too_large': 'The headers are too large.',
  'http.body_too_slow': 'The request took too long.',
  'http.rate_limited': 'Too many connections of your address at the same time.',
  'http.internal': 'Something went wrong on our side.',
};

const describe = (code: HttpErrorCode, requestId: string) =>
  problemOf(httpErrors.statuses[code], code, details[code] ?? 'This is not a request.', requestId);

const codesOfNode: Readonly<Record<string, HttpErrorCode>> = {
  HPE_HEADER_OVERFLOW: 'http.headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'http.body_too_slow',
};

type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer };

// A URL that is too long is invalid input, for example a cursor with something pasted into it.
function codeOf({ code = '', rawPacket }: ClientError): HttpErrorCode {
  if (
    code === 'HPE_HEADER_OVERFLOW' &&
    rawPacket &&
    startsRequest.test(rawPacket.toString('latin1', 0, 20))
  ) {
    const firstLine = rawPacket.indexOf('\r\n');
    if (firstLine < 0 || firstLine > limits.headerBytes) return 'http.request_invalid';
  }
  return codesOfNode[code] ?? 'http.request_invalid';
}

const startsRequest = /^[A-Z]{3,8} \//;

// A request that Node refuses before it becomes one has no response object, so the response is written to the socket.
function refuseConnection(code: HttpErrorCode, socket: Duplex, requestId: string): void {
  const problem = describe(code, requestId);
  const body = JSON.stringify(problem);
  socket.on('error', () => socket.destroy()); // the client may already be gone
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${problem.title}`,
      `Content-Type: ${problemType}`,
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...(problem.status === 429 ? ['Retry-After: 1'] : []),
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
    () => socket.destroy(), // without reading further input
  );
}

// Parsing such a host takes long, and would come before every limit of requests.
const hasLongHost = ({ headers: { host = '' }, url = '' }: IncomingMessage): boolean =>
  host.length > hostChars || (/^https?:/i.test(url) && parseUrl(url) === undefined);

// Node takes the first; a proxy may have taken the other one.
function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count > 1;
}

function refuseRequest(response: ServerResponse, requestId: string): void {
  const { status, headers, body } = refusalOf('http.request_invalid', requestId);
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) }).end(body);
}

function refusalOf(code: HttpErrorCode, requestId: string) {
  const problem = describe(code, requestId);
  const headers = { 'Content-Type': problemType, 'X-Request-Id': requestId, Connection: 'close' };
  return { status: problem.status, headers, body: JSON.stringify(problem) };
}

// The connections of each address, the oldest first.
function createAddressWatch(connections: Connections) {
  const sockets = new Map<string, Set<Socket>>();
  const addressOf = (socket: Socket) => addressKey(clientAddress(socket.remoteAddress, undefined, 0));
  // It waits for nothing but its client: for a request, or for the rest of one.
  const isIdle = (socket: Socket) => connections.get(socket)?.response?.req.complete !== true;

  return {
    count: (socket: Socket) => sockets.get(addressOf(socket))?.size ?? 0,
    add(socket: Socket) {
      const address = addressOf(socket);
      const own = sockets.get(address) ?? new Set();
      sockets.set(address, own.add(socket));
      socket.once('close', () => {
        own.delete(socket);
        if (own.size === 0) sockets.delete(address);
      });
    },
    // A few addresses cannot keep everybody else out by connections that they do not use.
    makeRoom() {
      let most: Socket[] = [];
      for (const own of sockets.values()) {
        if (own.size <= most.length) continue;
        const idle = [...own].filter(socket => !socket.destroyed && isIdle(socket));
        if (idle.length > most.length) most = idle;
      }
      most[0]?.destroy();
    },
  };
}
