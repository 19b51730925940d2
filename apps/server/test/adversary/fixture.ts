import { createAccounts, type PlanName } from '@stak/accounts';
import { createEngine, type Engine } from '@stak/engine';
import type { Principal } from '@stak/http';
import { httpTable } from '@stak/http/table';
import { createIds, createLogger, createSealer, type Random, seededRandom } from '@stak/kit';
import { engineSource, streamsTable } from '@stak/streams';
import { createStore, createTables, type Store } from '@stak/table';
import { readServerConfig } from '../../src/config/config.ts';
import { createAmbush } from './ambush.ts';
import { createHistory, type History } from './history.ts';
import type { Destination } from './network.ts';
import { type Answer, type FaultSettings, type Node, openNode, type Request } from './node.ts';
import { watchStreams } from './stream-watch.ts';
import { replaceTime, type VirtualTime } from './virtual-time.ts';

// Servers on one store, what is outside of them, and what goes wrong. Everything follows from the seed.

export type Plan = {
  seed: number;
  loads: readonly string[];
  forMs: number; // of load, while things go wrong
  nodes: number;
  faults: readonly Fault[];
};
export const allFaults = ['store', 'streams', 'kills', 'freezes', 'restarts', 'clocks', 'shards'] as const;
type Fault = (typeof allFaults)[number];

export type Violation = {
  what: string;
  about: readonly string[];
  isFinal?: boolean; // waiting would not change it
};

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
  // As a client does: what got no answer, or was refused for a moment, is sent again with the same key. With a key it
  // does not wait for long, and a server may still be at it while another one is asked.
  call(method: string, path: string, request?: Partial<Request>): Promise<Answer>;
  // The same, and throws unless it was done.
  make(method: string, path: string, request: Partial<Request>): Promise<Answer['body']>;
  list<T>(path: string): Promise<T[]>; // all pages
  items(table: string): Promise<Record<string, unknown>[]>; // everything that is stored in it
  nodes(): readonly Node[];
  // How often a request got no answer so far: it may have been done in part.
  unanswered(): number;
  isHealed(): boolean; // nothing fails any more
  // Whether the node ended or stood still within a time after this one.
  hasFailed(node: string, afterMs: number, withinMs: number): boolean;
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
const patienceMs = 4_000; // of a client that has a key
const betweenMishapsMs = 900; // at most
// Longer than others need to take a silent node for dead, or a moment only.
const frozenMs = [1_500, 10_000, 13_000];
const staleMs = 5_000; // what a node did not do before it stood still, it does within this time
const mostFrozen = 0.5; // of the nodes
const calmMs = 3_000; // at the start: every server takes a share of the work
const looksAgainMs = 4_000; // for the first time, then twice as long each time
const quietWithinMs = 100_000; // the longest wait: retries, leases and what is read every few minutes

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
  const runs = runsOf(plan.loads);
  const config = {
    ...readServerConfig({ memory: true, demo: false }, { STAK_LAKE: 'off' }),
    dueShards: { webhooks: 2, agents: 2 }, // each is looked at every second
  };
  const faults: FaultSettings = {};
  const destinations = new Map<string, Destination>();
  const failures: { node: string; fromMs: number; untilMs: number }[] = [];
  const late: Promise<unknown>[] = []; // mishaps that are not over yet
  const watch = watchStreams();
  const ambush = createAmbush();
  let opened = 0;
  let unanswered = 0;
  let isHealed = false;
  const open = (): Node =>
    openNode({
      steps: { at: ambush.at, around: watch.around },
      runs,
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
  const fail = (node: Node, forMs = 0) => {
    const fromMs = time.now();
    failures.push({ node: node.name, fromMs, untilMs: fromMs + forMs });
  };
  const leave = (node: Node) => {
    alive = alive.filter(one => one !== node);
  };
  const kill = (victim: Node) => {
    if (alive.length < 2 || !alive.includes(victim)) return;
    note(`kill ${victim.name}`);
    leave(victim);
    fail(victim);
    victim.kill();
    late.push(sleep(below(3_000)).then(startNode));
  };
  const freeze = (node: Node) => {
    const frozen = alive.filter(one => one.isFrozen()).length;
    if (node.isFrozen() || !alive.includes(node) || frozen + 1 > alive.length * mostFrozen) return;
    const ms = pick(frozenMs);
    note(`freeze ${node.name} for ${ms} ms`);
    fail(node, ms);
    node.freeze(ms);
    late.push(sleep(ms).then(() => note(`thaw ${node.name}`)));
  };
  // At a moment of its own, or at a write that is chosen: those that are rare are met as often as all others.
  const strike = async (act: (node: Node) => void, name: string): Promise<void> => {
    if (random() < 0.25) return act(pick(alive));
    const where = ambush.lay(pick, act);
    if (where) note(`ambush ${name} ${where}`);
  };
  const mishaps: Record<string, () => Promise<void>> = {
    ...(has('kills') && { kill: () => strike(kill, 'kill') }),
    ...(has('freezes') && { freeze: () => strike(freeze, 'freeze') }),
    ...(has('restarts') && {
      async restart() {
        if (alive.length < 2) return;
        const node = pick(alive);
        if (node.isFrozen()) return;
        note(`step ${node.name} is restarted`);
        leave(node);
        const isStopped = await Promise.race([node.stop().then(() => true), sleep(40_000)]);
        if (!isStopped) fail(node);
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
    unanswered: () => unanswered,
    isHealed: () => isHealed,
    hasFailed: (name, afterMs, withinMs) =>
      failures.some(
        ({ node, fromMs, untilMs }) =>
          node === name && afterMs <= untilMs + staleMs && fromMs < afterMs + withinMs,
      ),
    store,
    engine,
    async call(method, path, request = {}) {
      for (let attempt = 0; attempt < attemptsMost; attempt++) {
        const node = alive.length > 0 ? pick(alive) : undefined;
        const { key = '', isRepeatable = key !== '', ...rest } = request;
        const asked = node
          ?.request(method, path, { as: 'ann', ...rest, ...(key && { key }) })
          .catch(() => undefined);
        const answer = await (isRepeatable ? Promise.race([asked, sleep(patienceMs)]) : asked);
        if (method !== 'GET')
          note(`request ${node?.name} ${method} ${path} ${key} ${answer?.status ?? 'unanswered'}`);
        if (answer && !isTransient(answer)) return answer;
        unanswered += 1;
        await sleep(50 + below(450));
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
    async items(TableName) {
      const all: Record<string, unknown>[] = [];
      for (
        let ExclusiveStartKey: Record<string, unknown> | undefined, isFirst = true;
        isFirst || ExclusiveStartKey;
        isFirst = false
      ) {
        const page = await engine.client.scan({ TableName, ...(ExclusiveStartKey && { ExclusiveStartKey }) });
        all.push(...(page.Items ?? []));
        ExclusiveStartKey = page.LastEvaluatedKey;
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
  ambush.begin();
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
      await sleep(100 + below(betweenMishapsMs));
      if (!isOver()) await pick(all)();
    }
    ambush.lift();
  })();
  await Promise.all([...work, chaos]);
  await Promise.all(late);
  faults.store = false;
  faults.streams = false;
  note('heal everything');
  isHealed = true;

  const checkAll = async (): Promise<Violation[]> => {
    const found: Violation[] = [...watch.violations()];
    for (const load of loads) found.push(...(await load.check()));
    for (const node of alive)
      if (node.deadLetters() > 0)
        found.push({ what: `${node.name} set ${node.deadLetters()} records aside`, about: [node.name] });
    return found;
  };
  let violations = await checkAll();
  const isHopeless = () => violations.some(({ isFinal }) => isFinal);
  for (
    let waitMs = looksAgainMs;
    violations.length > 0 && !isHopeless() && waitMs < quietWithinMs;
    waitMs *= 2
  ) {
    await sleep(waitMs);
    violations = await checkAll();
  }
  for (const node of alive) node.kill();
  await engine.close();
  return { violations, deaths: failures.length };
}

// A consumer of a service that nobody uses only costs time. What is stored is counted from all of them.
const usesOf: Record<string, readonly string[]> = { agents: ['tasks'], tasks: ['inbox'] };
function runsOf(loads: readonly string[]): (name: string) => boolean {
  if (loads.includes('storage')) return () => true;
  const used = new Set(loads.flatMap(load => [load, ...(usesOf[load] ?? [])]));
  const services = ['webhooks', 'inbox', 'tasks', 'agents', 'storage'];
  return name => services.every(service => !name.startsWith(service) || used.has(service));
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
