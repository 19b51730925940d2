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
import { describeLog, noting, type Written } from './notes.ts';
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
  steps: Steps;
  runs(name: string): boolean; // whether a consumer or a worker of this name is part of the plan
  note(line: string): void;
};

/** Sees every write of a node right before and after it is made, and may end or freeze the node there. */
export type Steps = {
  at(node: Node, write: Write, when: 'before' | 'after'): void;
  around<T>(node: Node, write: Write, call: () => Promise<T>): Promise<T>;
};
export type Write = { name: string; input: Written };

/** Which kinds of faults happen. Changed to `{}` when a run comes to its end. */
export type FaultSettings = { store?: boolean; streams?: boolean };

export type Request = {
  as: string;
  send?: unknown;
  key?: string;
  headers?: Record<string, string>;
  isRepeatable?: boolean; // may be made by two servers at a time
};
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
  // Stands still for a while, and goes on as if nothing had happened: what it was about to write, it writes then.
  freeze(ms: number): void;
  isFrozen(): boolean;
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
  const self = (): Node => node;
  const client = crashing(life, slow(clock, random, failing(deps, clock, life, self)));
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
    outbound: createNetwork({ node: name, destinations: deps.destinations, clock, random, note }),
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
  const isRun = (one: { name: string }) => deps.runs(one.name);

  const node: Node = {
    name,
    services,
    died: life.died,
    diedAtMs: life.diedAtMs,
    deadLetters: () => streams.states().reduce((sum, { counters }) => sum + counters.deadLetters, 0),
    async begin() {
      await presence.begin();
      supervisors = [
        superviseWorkers([...streams.consumers, ...workersOf(services)].filter(isRun), settings),
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
    freeze: life.freeze,
    isFrozen: life.isFrozen,
    async stop() {
      for (const supervisor of supervisors) await supervisor.stop();
      await presence.leave();
      life.end();
    },
    stepClock: clock.step,
  };
  return node;
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
  freeze(ms: number): void;
  isFrozen(): boolean;
  // Now, or when the node is not frozen any more, in order, or never if it is dead.
  run(act: () => void): void;
  awake(): Promise<void>; // ends in the same way
};

function createLife(time: Pick<VirtualTime, 'now' | 'after'>): Life {
  let diedAtMs: number | undefined;
  let frozen: (() => void)[] | undefined;
  const run = (act: () => void): void => {
    if (diedAtMs !== undefined) return;
    if (frozen) frozen.push(act);
    else act();
  };
  const thaw = (): void => {
    const held = frozen ?? [];
    frozen = undefined;
    for (const act of held) time.after(0, () => run(act));
  };
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
    freeze(ms) {
      if (frozen || diedAtMs !== undefined) return;
      frozen = [];
      time.after(ms, thaw);
    },
    isFrozen: () => frozen !== undefined,
    run,
    awake: () => new Promise(resolve => run(resolve)),
  };
}

// As far from the others' as clocks may be. Nobody who is dead wakes.
function createClock(time: VirtualTime, life: Life): Clock & { step(ms: number): void } {
  let offMs = 0;
  const after: Clock['after'] = (ms, act) => {
    let isCancelled = false;
    const cancel = time.after(ms, () => life.run(() => isCancelled || act()));
    return () => {
      isCancelled = true;
      cancel();
    };
  };
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
    await life.awake();
    try {
      return await call(input);
    } finally {
      await life.awake();
    }
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

function failing(
  { name, random, database, faults, steps, note }: NodeDeps,
  clock: Clock,
  life: Life,
  node: () => Node,
): DynamoClient {
  const client = stepping(
    noting(database.client, line => note(`${name} ${line}`)),
    steps,
    life,
    node,
  );
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

const writes = new Set(['put', 'update', 'delete', 'transactWrite', 'batchWrite']);

// What a node that ends here has asked for is done or not, and what one asks for that freezes here is done late.
const stepping = (client: DynamoClient, steps: Steps, life: Life, node: () => Node): DynamoClient =>
  Object.fromEntries(
    Object.entries(client).map(([name, call]) => [
      name,
      isFunction(call) && writes.has(name)
        ? async (input: never) => {
            const write = { name, input };
            steps.at(node(), write, 'before');
            await life.awake();
            try {
              return await steps.around(node(), write, () => call(input) as Promise<unknown>);
            } finally {
              steps.at(node(), write, 'after');
              await life.awake();
            }
          }
        : call,
    ]),
  ) as unknown as DynamoClient;
