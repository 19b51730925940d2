import { createAccounts, type PlanName } from '@stak/accounts';
import { createEngine, type Engine } from '@stak/engine';
import type { Principal } from '@stak/http';
import { httpTable } from '@stak/http/table';
import { createIds, createLogger, createSealer, type Random, seededRandom } from '@stak/kit';
import { engineSource, streamsTable } from '@stak/streams';
import { createStore, createTables, type Store } from '@stak/table';
import { readServerConfig } from '../../src/config/config.ts';
import { createHistory, type History } from './history.ts';
import type { Destination } from './network.ts';
import { type Answer, type FaultSettings, type Node, openNode, type Request } from './node.ts';
import { replaceTime, type VirtualTime } from './virtual-time.ts';

// Servers on one store, what is outside of them, and what goes wrong. Everything follows from the seed.

export type Plan = {
  seed: number;
  loads: readonly string[];
  forMs: number; // of load, while things go wrong
  nodes: number;
  faults: readonly Fault[];
};
export const allFaults = ['store', 'streams', 'kills', 'restarts', 'clocks', 'shards'] as const;
type Fault = (typeof allFaults)[number];

export type Violation = { what: string; about: readonly string[] };

/** What users do, several of them at the same time, and what has to hold when everything is quiet. */
export type Load = {
  name: string;
  users: readonly (() => Promise<void>)[]; // each does one thing, again and again
  check(): Promise<Violation[]>;
};

export type Fixture = {
  random: Random;
  pick<T>(list: readonly T[]): T;
  below(most: number): number;
  sleep(ms: number): Promise<void>;
  nowMs(): number;
  note(line: string): void;
  destinations: Map<string, Destination>;
  // As a client does: what got no answer, or was refused for a moment, is sent again with the same key.
  call(method: string, path: string, request?: Partial<Request>): Promise<Answer>;
  // The same, and throws unless it was done.
  make(method: string, path: string, request: Partial<Request>): Promise<Answer['body']>;
  list<T>(path: string): Promise<T[]>; // all pages
  nodes(): readonly Node[];
  deaths(): readonly number[]; // when nodes were killed or stopped
  store: Store; // that does not fail
  engine: Engine;
};

export type Result = {
  violations: Violation[];
  hash: string;
  history: History;
  virtualMs: number;
  deaths: number;
};

const accountId = 'usr_ann';
const principals: Record<string, Principal> = {
  ann: {
    kind: 'account',
    accountId,
    scope: 'admin',
    via: 'api_key',
    credentialId: 'key_1',
    userId: accountId,
  },
};
const attemptsMost = 300;
const calmMs = 3_000; // at the start: every server takes a share of the work
const looksAgainMs = 4_000; // for the first time, then twice as long each time
const quietWithinMs = 200_000; // the longest wait: retries, leases and what is read every few minutes

export async function runPlan(
  plan: Plan,
  createLoads: (fixture: Fixture, names: readonly string[]) => Promise<Load[]>,
): Promise<Result> {
  const time = replaceTime(seededRandom(plan.seed));
  const random = seededRandom(plan.seed + 1_000_003);
  const startMs = time.now();
  const history = createHistory(() => time.now() - startMs);
  try {
    const { violations, deaths } = await time.run(() =>
      simulate(plan, { time, random, history }, createLoads),
    );
    return { violations, hash: history.hash(), history, virtualMs: time.now() - startMs, deaths };
  } finally {
    await time.restore();
  }
}

async function simulate(
  plan: Plan,
  { time, random, history }: { time: VirtualTime; random: Random; history: History },
  createLoads: (fixture: Fixture, names: readonly string[]) => Promise<Load[]>,
): Promise<{ violations: Violation[]; deaths: number }> {
  const has = (fault: Fault) => plan.faults.includes(fault);
  const below = (most: number) => Math.floor(random() * most);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const sleep = (ms: number) => new Promise<void>(resolve => time.after(ms, resolve));
  const clock = { now: time.now, sleep, after: time.after };
  const { note } = history;
  const engine = await createEngine({ path: ':memory:', clock, streamShards: 2 });
  const store = createStore({ client: engine.client, clock });
  const config = {
    ...readServerConfig({ memory: true, demo: false }, { STAK_LAKE: 'off' }),
    dueShards: { webhooks: 2, agents: 2 }, // each is looked at every second
  };
  const faults: FaultSettings = {};
  const destinations = new Map<string, Destination>();
  const deaths: number[] = [];
  let opened = 0;
  const open = (): Node =>
    openNode({
      name: `node${opened++}`,
      time,
      random,
      config,
      database: { client: engine.client, control: engine, source: engineSource(engine) },
      destinations,
      principals,
      faults,
      note,
    });

  const first = open();
  const tables = first.services.all.flatMap(service => service.tables);
  await createTables(engine, [streamsTable, httpTable, ...tables]);
  await createAccount(store, clock);
  await first.begin();
  let alive: Node[] = [first];

  const startNode = async () => {
    const node = open();
    note(`start ${node.name}`);
    alive.push(node);
    await node.begin().catch(() => {});
  };
  const leave = (node: Node) => {
    alive = alive.filter(one => one !== node);
    deaths.push(time.now());
  };
  const mishaps: Record<string, () => Promise<void>> = {
    ...(has('kills') && {
      async kill() {
        if (alive.length < 2) return;
        const victim = pick(alive);
        note(`kill ${victim.name}`);
        leave(victim);
        victim.kill();
        await sleep(below(5_000));
        await startNode();
      },
    }),
    ...(has('restarts') && {
      async restart() {
        if (alive.length < 2) return;
        const node = pick(alive);
        note(`step ${node.name} is restarted`);
        leave(node);
        await Promise.race([node.stop(), sleep(40_000)]);
        node.kill();
        await startNode();
      },
    }),
    ...(has('clocks') && {
      async clock() {
        const node = pick(alive);
        const ms = pick([-2_000, -700, 700, 2_000]);
        note(`step ${node.name} clock ${ms}`);
        node.stepClock(ms);
      },
    }),
    ...(has('shards') && {
      async shards() {
        const { name } = pick(tables);
        note(`roll ${name}`);
        await engine.rollShards(name);
      },
    }),
  };

  const fixture: Fixture = {
    random,
    pick,
    below,
    sleep,
    nowMs: time.now,
    note,
    destinations,
    nodes: () => alive,
    deaths: () => deaths,
    store,
    engine,
    async call(method, path, request = {}) {
      for (let attempt = 0; attempt < attemptsMost; attempt++) {
        const node = alive.length > 0 ? pick(alive) : undefined;
        const answer = await node?.request(method, path, { as: 'ann', ...request }).catch(() => undefined);
        const { key = '' } = request;
        if (method !== 'GET')
          note(`request ${node?.name} ${method} ${path} ${key} ${answer?.status ?? 'died'}`);
        if (answer && !isTransient(answer)) return answer;
        await sleep(100 + below(900));
      }
      throw new Error(`${method} ${path} got no answer`);
    },
    async make(method, path, request) {
      const { status, body } = await fixture.call(method, path, request);
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    async list<T>(path: string) {
      const all: T[] = [];
      const separator = path.includes('?') ? '&' : '?';
      for (let cursor: string | null = ''; cursor !== null; ) {
        const after: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
        const { status, body } = await fixture.call('GET', `${path}${separator}limit=100${after}`);
        if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
        all.push(...body.data);
        cursor = body.next_cursor ?? null;
      }
      return all;
    },
  };

  // A server may know the sources and settings of a minute ago. The one that sets them up is gone before that matters.
  const loads = await createLoads(fixture, plan.loads);
  await first.stop();
  alive = Array.from({ length: plan.nodes }, open);
  for (const node of alive) await node.begin();
  await sleep(calmMs);
  if (has('store')) faults.store = true;
  if (has('streams')) faults.streams = true;
  const endMs = time.now() + plan.forMs;
  const isOver = () => time.now() >= endMs;
  const work = loads.flatMap(load =>
    load.users.map(async act => {
      while (!isOver()) {
        await act();
        await sleep(50 + below(700));
      }
    }),
  );
  const chaos = (async () => {
    const all = Object.values(mishaps);
    while (all.length > 0 && !isOver()) {
      await sleep(1_000 + below(6_000));
      if (!isOver()) await pick(all)();
    }
  })();
  await Promise.all([...work, chaos]);
  faults.store = false;
  faults.streams = false;
  note('heal everything');

  const checkAll = async (): Promise<Violation[]> => {
    const found: Violation[] = [];
    for (const load of loads) found.push(...(await load.check()));
    for (const node of alive)
      if (node.deadLetters() > 0)
        found.push({ what: `${node.name} set ${node.deadLetters()} records aside`, about: [node.name] });
    return found;
  };
  let violations = await checkAll();
  for (let waitMs = looksAgainMs; violations.length > 0 && waitMs < quietWithinMs; waitMs *= 2) {
    await sleep(waitMs);
    violations = await checkAll();
  }
  for (const node of alive) node.kill();
  await engine.close();
  return { violations, deaths: deaths.length };
}

const isTransient = ({ status, body }: Answer): boolean =>
  status >= 500 ||
  (status === 429 && !/quota|spend/.test(body.code)) ||
  body.code === 'http.request_in_flight';

async function createAccount(store: Store, clock: Parameters<typeof createAccounts>[0]['clock']) {
  const accounts = createAccounts({
    store,
    clock,
    ids: createIds({ clock }),
    log: createLogger({ level: 'silent' }),
    sealer: createSealer({ keys: [{ id: 'k1', secret: 'a secret of these tests' }] }),
    publicUrl: 'https://stak.example',
  });
  const plan: PlanName = 'selfhosted';
  await accounts.users.create(
    { email: 'ann@example.com', name: 'Ann', emailVerified: true, plan },
    {},
    accountId,
  );
}
