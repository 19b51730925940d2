import { isIP } from 'node:net';
import { type Clock, createRecentMap, systemClock } from '@stak/kit';
import { Agent, Client, type Dispatcher, Pool } from 'undici';
import { createAddressPolicy } from './address-policy.ts';
import { type Connect, createConnect, type Peer } from './connector.ts';
import {
  type Destination,
  findBadPart,
  permitsWebPort,
  type Refusal,
  readDestination,
} from './destination.ts';
import { type Answer, createExchange, type Exchange, type Failing } from './exchange.ts';
import * as limits from './limits.ts';
import type { HeaderPair, OutboundResult } from './outcome.ts';
import { createDnsResolver, type Resolve, shareLookups } from './resolver.ts';

export type OutboundSettings = {
  // CIDR blocks that may be reached although they are not on the public internet: `127.0.0.0/8` in development.
  allow?: readonly string[];
  // CIDR blocks that may not be reached although they are on the public internet: the operator's own.
  deny?: readonly string[];
  resolver?: Resolve;
  clock?: Clock;
  timeoutMs?: number;
  connectMs?: number;
  maxResponseBytes?: number;
  connectionsPerOrigin?: number;
  requestsInFlight?: number;
  permitsPort?: (port: number) => boolean;
  ca?: string; // certificates to trust instead of Node's own list
};

export type OutboundRequest = {
  url: string;
  method: string;
  headers?: readonly HeaderPair[];
  body?: Uint8Array | string;
  signal?: AbortSignal;
  timeoutMs?: number;
};

export type Outbound = {
  // Never rejects.
  send(request: OutboundRequest): Promise<OutboundResult>;
  // Checks a URL without a lookup, to report errors to a user before anything is sent.
  check(url: string): Refusal | undefined;
  // Fails all requests in flight and closes every connection.
  close(): Promise<void>;
};

// For requests to URLs that users chose.
export function createOutbound(settings: OutboundSettings = {}): Outbound {
  const clock = settings.clock ?? systemClock;
  const timeoutMs = settings.timeoutMs ?? limits.timeoutMs;
  const mostBytes = settings.maxResponseBytes ?? limits.responseBytes;
  const mostInFlight = settings.requestsInFlight ?? limits.requestsInFlight;
  const permitsPort = settings.permitsPort ?? permitsWebPort;
  const policy = createAddressPolicy(settings);
  const connect = createConnect({
    policy,
    resolve: shareLookups(settings.resolver ?? createDnsResolver()),
    connectMs: settings.connectMs ?? limits.connectMs,
    ca: settings.ca,
  });
  const agent = createAgent(connect, settings.connectionsPerOrigin ?? limits.connectionsPerOrigin);
  let inFlight = 0;
  // Only the text is read here. Where it leads is checked each time a connection is opened.
  const aborts = createAborts();
  const destinations = createRecentMap<string, Destination | Refusal>(limits.destinationsRead);
  const destinationOf = (url: string): Destination | Refusal => {
    const destination = destinations.get(url);
    if (destination) return destination;
    const read = readDestination(url, permitsPort);
    if (url.length <= limits.knownChars) destinations.set(url, read);
    return read;
  };

  const send = (request: OutboundRequest): Promise<OutboundResult> => {
    const startMs = clock.now();
    const { method, headers = [], body = null, signal } = request;

    const report = (outcome: Answer | Failing, peer?: Peer): OutboundResult => {
      const latencyMs = Math.max(0, clock.now() - startMs);
      const address = peer?.address;
      return 'reason' in outcome
        ? { ok: false, ...outcome, latencyMs, ...(address === undefined ? {} : { address }) }
        : { ok: true, ...outcome, latencyMs, address: address ?? '' };
    };

    const destination = destinationOf(request.url);
    if ('reason' in destination) return Promise.resolve(report(destination));
    const bad = findBadPart(method, headers);
    if (bad) return Promise.resolve(report(bad));
    if (signal?.aborted) return Promise.resolve(report(aborted));
    if (inFlight >= mostInFlight) return Promise.resolve(report(busy));

    return new Promise(resolve => {
      const exchange = createExchange(mostBytes, (outcome, peer) => {
        inFlight -= 1;
        cancel();
        if (signal) aborts.remove(signal, exchange);
        resolve(report(outcome, peer));
      });
      inFlight += 1;
      if (signal) aborts.add(signal, exchange);
      const deadlineMs = request.timeoutMs ?? timeoutMs;
      const cancel = clock.after(deadlineMs, () =>
        exchange.stop('timeout', `No complete answer within ${deadlineMs} ms`),
      );
      const options: ExchangeOptions = {
        origin: destination.origin,
        path: destination.path,
        method,
        headers: flatten(headers),
        body,
        exchange,
      };
      agent.dispatch(options, exchange.handler);
    });
  };

  const check = (url: string): Refusal | undefined => {
    const destination = readDestination(url, permitsPort);
    if ('reason' in destination) return destination;
    const refusal = isIP(destination.host) === 0 ? undefined : policy.refusal(destination.host);
    return refusal === undefined
      ? undefined
      : { reason: 'blocked_address', message: `${destination.host} may not be reached (${refusal})` };
  };

  return { send, check, close: () => agent.destroy() };
}

// Names and values in turn. `flat()` takes five times as long.
function flatten(headers: readonly HeaderPair[]): string[] {
  const flat: string[] = [];
  for (const [name, value] of headers) flat.push(name, value);
  return flat;
}

// Thousands of requests may have the same signal: it has one listener for all of them. Removing one of many listeners
// of a signal takes time that grows with their number.
function createAborts() {
  const running = new WeakMap<AbortSignal, { exchanges: Set<Exchange>; stop(): void }>();
  return {
    add(signal: AbortSignal, exchange: Exchange): void {
      const tasks = running.get(signal);
      if (tasks) return void tasks.exchanges.add(exchange);
      const exchanges = new Set([exchange]);
      const stop = () => {
        for (const exchange of exchanges) exchange.stop(aborted.reason, aborted.message);
      };
      running.set(signal, { exchanges, stop });
      signal.addEventListener('abort', stop, { once: true });
    },
    remove(signal: AbortSignal, exchange: Exchange): void {
      const tasks = running.get(signal);
      tasks?.exchanges.delete(exchange);
      if (tasks?.exchanges.size !== 0) return;
      running.delete(signal);
      signal.removeEventListener('abort', tasks.stop);
    },
  };
}

const aborted: Failing = { reason: 'aborted', message: 'The caller gave up' };
const busy: Failing = { reason: 'busy', message: 'Too many requests are in flight' };

type ExchangeOptions = Dispatcher.DispatchOptions & { exchange: Exchange };

// Connections are kept and reused per origin. Each client has one connection at a time, so it knows the address of its
// requests. A pool does not report which client took a request, so the client sets it on the request.
function createAgent(connect: Connect, connections: number): Agent {
  const createClient = (origin: URL, options: Client.Options): Client => {
    const peer: Peer = { address: undefined };
    const client = new Client(origin, { ...options, connect: (target, done) => connect(target, peer, done) });
    const dispatch = client.dispatch.bind(client);
    client.dispatch = (request, handler) => {
      (request as ExchangeOptions).exchange.peer = peer;
      return dispatch(request, handler);
    };
    return client;
  };
  return new Agent({
    factory: (origin, options) => new Pool(origin, { ...options, factory: createClient }),
    connections,
    pipelining: 1,
    keepAliveTimeout: limits.keepAliveMs,
    keepAliveMaxTimeout: limits.keepAliveMostMs,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: 0, // the exchange has a single deadline
    bodyTimeout: 0,
  });
}
