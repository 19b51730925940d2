import { createApi, type Principal } from '@stak/http';
import { createTableStores } from '@stak/http/table';
import {
  type Clock,
  createIds,
  createLogger,
  createSealer,
  type Random,
  superviseWorkers,
  type Worker,
} from '@stak/kit';
import { type StreamSource, shareReads } from '@stak/streams';
import { createStreamAdversary, passingStreamFaults } from '@stak/streams/adversary';
import { createCursors, createLedger, createStore, type DynamoClient, tableErrors } from '@stak/table';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import { composeServices, endpointsOf } from '../../src/compose/compose.ts';
import { createConsumers } from '../../src/compose/consumers.ts';
import { apiInfo } from '../../src/compose/document.ts';
import type { ServerConfig } from '../../src/config/config.ts';
import type { Database } from '../../src/store/database.ts';
import { createPresence } from '../../src/store/presence.ts';
import { createNetwork, type Destination } from './network.ts';
import type { VirtualTime } from './virtual-time.ts';

// One server of several on a store like DynamoDB, with everything but sockets, keys of tokens and the lake. What it
// reaches are functions that fail as a network and a remote store do.

type NodeDeps = {
  name: string;
  time: VirtualTime;
  random: Random;
  config: ServerConfig;
  database: Pick<Database, 'client' | 'source' | 'control'>;
  destinations: ReadonlyMap<string, Destination>;
  principals: Readonly<Record<string, Principal>>;
  faults: FaultSettings;
  note(line: string): void;
};

/** Which kinds of faults happen. Changed to `{}` when a run comes to its end. */
export type FaultSettings = { store?: boolean; streams?: boolean };

export type Request = { as: string; send?: unknown; key?: string; headers?: Record<string, string> };
// biome-ignore lint/suspicious/noExplicitAny: what a load reads from an answer, it names itself.
export type Answer = { status: number; body: any; etag: string };

export type Node = {
  name: string;
  died: Promise<void>;
  diedAtMs(): number | undefined;
  begin(): Promise<void>;
  // Rejects if the node dies before it has answered.
  request(method: string, path: string, request: Request): Promise<Answer>;
  kill(): void;
  stop(): Promise<void>; // as a deployment does
  stepClock(ms: number): void;
  services: ReturnType<typeof composeServices>;
  deadLetters(): number;
};

const storeLatencyMs = 8; // the longest way to the store and back, each
const clockOffMostMs = 1_000;
const hang = () => new Promise<never>(() => {});

export function openNode(deps: NodeDeps): Node {
  const { name, time, random, config, database, note } = deps;
  const life = createLife(time);
  const clock = createClock(time, life);
  const client = crashing(life, slow(clock, random, failing(deps, clock)));
  const source = shareReads(crashing(life, slow(clock, random, failingStreams(deps))));
  const log = createLogger({
    clock,
    level: 'error',
    destination: { write: line => note(`log ${name} ${describeLog(line)}`) },
  });
  const cursors = createCursors('a secret for cursors');
  const ledger = createLedger();
  const store = createStore({ client, clock, ledger, cursors });
  const ids = createIds({ clock });
  const sealer = createSealer({ keys: [{ id: 'k1', secret: 'a secret of these tests' }] });
  const publicUrl = 'https://stak.example';
  const presence = createPresence({ store, clock, ids, log, publicUrl });
  const { owners } = presence;
  const shared = createTableStores({ store, clock, sealer, owners });
  const services = composeServices({
    store,
    owners,
    cursors,
    clock,
    ids,
    log,
    sealer,
    publicUrl,
    config,
    client,
    announceRevoked: shared.revocations.announce,
    system: { source, ledger, workers: () => [] },
    outbound: createNetwork({ destinations: deps.destinations, clock, random, note }),
  });
  const settings = { clock, log };
  const streams = createConsumers({ ...database, client, source } as Database, config, services, {
    store,
    owners,
    ...settings,
  });
  const { app } = createApi({
    info: apiInfo,
    endpoints: endpointsOf(services),
    guards: services.guards,
    errors: [tableErrors, ...services.all.map(service => service.errors)],
    authenticate: async ({ token }) => deps.principals[token],
    clock,
    log,
    ids,
    idempotency: shared.idempotency,
  });
  let supervisors: ReturnType<typeof superviseWorkers>[] = [];

  return {
    name,
    services,
    died: life.died,
    diedAtMs: life.diedAtMs,
    deadLetters: () => streams.states().reduce((sum, { counters }) => sum + counters.deadLetters, 0),
    async begin() {
      await presence.begin();
      supervisors = [
        superviseWorkers([...streams.consumers, ...workersOf(services)], settings),
        superviseWorkers([presence.worker], settings),
      ];
    },
    async request(method, path, request) {
      const died = life.died.then((): never => {
        throw new Error('The node died.');
      });
      return Promise.race([answer(app, method, path, request), died]);
    },
    kill: life.end,
    async stop() {
      for (const supervisor of supervisors) await supervisor.stop();
      await presence.leave();
      life.end();
    },
    stepClock: clock.step,
  };
}

// Keys of tokens are made by threads of Node, and nothing here has a token.
const workersOf = ({ all }: Node['services']): Worker[] =>
  all.flatMap(service => service.workers).filter(({ name }) => !name.includes('signing'));

async function answer(
  app: ReturnType<typeof createApi>['app'],
  method: string,
  path: string,
  { as, send, key, headers = {} }: Request,
): Promise<Answer> {
  const response = await app.request(
    path,
    {
      method,
      headers: {
        Authorization: `Bearer ${as}`,
        ...(send !== undefined && { 'Content-Type': 'application/json' }),
        ...(key !== undefined && { 'Idempotency-Key': key }),
        ...headers,
      },
      ...(send !== undefined && { body: JSON.stringify(send) }),
    },
    { remoteAddress: '203.0.113.7' },
  );
  const text = await response.text();
  const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
  const etag = response.headers.get('etag') ?? '';
  return { status: response.status, body: isJson ? JSON.parse(text) : text, etag };
}

type Life = {
  died: Promise<void>;
  isOver(): boolean;
  diedAtMs(): number | undefined;
  end(): void;
};

function createLife(time: Pick<VirtualTime, 'now'>): Life {
  let diedAtMs: number | undefined;
  let setDied = () => {};
  const died = new Promise<void>(resolve => {
    setDied = resolve;
  });
  return {
    died,
    isOver: () => diedAtMs !== undefined,
    diedAtMs: () => diedAtMs,
    end() {
      diedAtMs ??= time.now();
      setDied();
    },
  };
}

// As far from the others' as clocks may be. Nobody who is dead wakes.
function createClock(time: VirtualTime, life: Life): Clock & { step(ms: number): void } {
  let offMs = 0;
  const after: Clock['after'] = (ms, act) => time.after(ms, () => life.isOver() || act());
  return {
    now: () => time.now() + offMs,
    elapsed: () => time.now(),
    after,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const stop = () => {
          cancel();
          reject(signal?.reason);
        };
        const cancel = after(ms, () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        });
        signal?.addEventListener('abort', stop, { once: true });
      }),
    step(ms) {
      offMs = Math.max(-clockOffMostMs, Math.min(clockOffMostMs, offMs + ms));
    },
  };
}

const isFunction = (value: unknown): value is (input: never) => Promise<unknown> =>
  typeof value === 'function';

const wrapEach = <T extends object>(
  port: T,
  wrap: (call: (input: never) => Promise<unknown>) => unknown,
): T =>
  Object.fromEntries(
    Object.entries(port).map(([name, value]) => [name, isFunction(value) ? wrap(value) : value]),
  ) as T;

// What a node has asked for when it dies may be done, and nobody is there to hear of it.
const crashing = <T extends object>(life: Life, port: T): T =>
  wrapEach(port, call => async (input: never) => {
    if (life.isOver()) return hang();
    const output = await call(input);
    return life.isOver() ? hang() : output;
  });

const slow = <T extends object>(clock: Pick<Clock, 'sleep'>, random: Random, port: T): T =>
  wrapEach(port, call => async (input: never) => {
    await clock.sleep(random() * storeLatencyMs);
    try {
      return await call(input);
    } finally {
      await clock.sleep(random() * storeLatencyMs);
    }
  });

function failing({ name, random, database, faults, note }: NodeDeps, clock: Clock): DynamoClient {
  const client = noting(database.client, line => note(`${name} ${line}`));
  const adversary = createAdversary(client, {
    ...passingFaults,
    staleIndexes: 0.3,
    clock,
    random: () => (faults.store ? random() : 1),
    note: fault => note(`fault ${name} ${fault}`),
  });
  return { ...adversary, mayLoseAnswers: true } as DynamoClient;
}

function failingStreams({ random, database, faults }: NodeDeps): StreamSource {
  const { waitForChange: _, position: _position, newest: _newest, ...polled } = database.source;
  const { calls: _calls, ...adversary } = createStreamAdversary(polled, {
    ...passingStreamFaults,
    random: () => (faults.streams ? random() : 1),
  });
  return adversary;
}

type Written = { TableName?: string; Key?: object; Item?: Record<string, unknown>; TransactItems?: object[] };

// Every call that reached the store, in the order in which it did.
const noting = (client: DynamoClient, note: (line: string) => void): DynamoClient =>
  Object.fromEntries(
    Object.entries(client).map(([name, call]) => [
      name,
      isFunction(call)
        ? async (input: never) => {
            note(`${name} ${describe(input)}`);
            return call(input);
          }
        : call,
    ]),
  ) as unknown as DynamoClient;

function describe({ TableName, Key, Item, TransactItems }: Written): string {
  if (TransactItems)
    return TransactItems.map(step => Object.values(step).map(one => describe(one as Written))).join(', ');
  const { pk, sk, PK, SK } = (Item ?? {}) as Record<string, unknown>;
  return `${TableName} ${JSON.stringify(Key ?? (Item ? { pk: pk ?? PK, sk: sk ?? SK } : {}))}`;
}

function describeLog(line: string): string {
  const { msg, err, worker, consumer } = JSON.parse(line);
  return [worker ?? consumer, msg, err?.message].filter(Boolean).join(': ');
}
