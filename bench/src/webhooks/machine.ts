import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle, stakCommand } from '../server/bundle.ts';
import { createCaller } from '../server/caller.ts';
import { type Command, startCommand } from '../server/command.ts';
import { createCustomer } from '../server/customer.ts';
import { watchPeak } from '../server/memory.ts';
import type { Pace } from '../server/pace.ts';
import { median, percentile } from '../statistics.ts';
import type { Destination } from './destination.ts';
import { connect, createSource, eventOf, ingestPath } from './event.ts';
import { inFlight, type Route, sendAll, sendAtPace, sendFor } from './route.ts';

// The whole machine: `stak start` with its defaults, with one worker and with two, and a destination that responds at
// once.

export type MachineSettings = {
  rounds: number;
  warmUpEvents: number;
  steadyMs: number;
  events: number;
  paces: { often: Pace; seldom: Pace };
  killedAfter: number; // events
};

// Processor time is that of all server processes, for one event that was ingested and delivered.
export type MachineRow = {
  workers: number;
  deliveredPerSecond: number; // with 32 callers
  throughMs: number; // `events` events, from the first call until the last arrival
  busyCpuUs: number | undefined;
  oftenCpuUs: number | undefined;
  seldomCpuUs: number | undefined;
  often: { p50Ms: number; p95Ms: number; p99Ms: number };
  privateMb: number | undefined; // while busy, at most
  afterKillMs: number; // from the restart until the arrival of the last event acknowledged before kill -9
};
export type Machine = { settings: MachineSettings; rows: MachineRow[] };

type Round = Omit<MachineRow, 'workers' | 'afterKillMs'>;

const arriveWithinMs = 120_000;
const lookEveryMs = 5;

export async function measureMachine(
  destination: Destination,
  settings: MachineSettings,
  folder: string,
): Promise<Machine> {
  const script = await bundle(stakCommand, join(folder, 'stak'));
  const setups: Setup[] = [];
  try {
    for (const workers of [1, 2])
      setups.push(await setUp(script, join(folder, `data-${workers}`), workers, destination));
    for (const setup of setups) await sendAll(setup.route, settings.warmUpEvents);
    const rounds = setups.map((): Round[] => []);
    for (let i = 0; i < settings.rounds; i++)
      for (const [s, setup] of setups.entries()) rounds[s]!.push(await measureRound(setup, settings));
    const rows: MachineRow[] = [];
    for (const [s, setup] of setups.entries()) {
      const afterKillMs = await measureKill(setup, settings.killedAfter);
      rows.push({ workers: setup.workers, ...medianOf(rounds[s]!), afterKillMs });
    }
    return { settings, rows };
  } finally {
    for (const { command } of setups) await command.stop();
  }
}

type Setup = {
  workers: number;
  command: Command;
  start(): Promise<Command>;
  route: Route;
};

async function setUp(
  script: string,
  data: string,
  workers: number,
  destination: Destination,
): Promise<Setup> {
  const start = () =>
    startCommand(script, data, {
      STAK_WORKERS: String(workers),
      STAK_DEMO: 'off',
      STAK_REQUESTS_PER_MINUTE: '1000000000', // no rate limit
    });
  const command = await start();
  const { client } = await createCustomer(command.url, { apiKeys: 0, sessions: 1, endUsers: 0 });
  const source = await createSource(client, 'machine');
  await connect(client, source, `${destination.url}/fast`, { maxConcurrency: 100 });
  const route = { url: command.url, path: ingestPath(source), destination };
  return { workers, command, start, route };
}

async function measureRound(setup: Setup, settings: MachineSettings): Promise<Round> {
  const steady = await measureSteady(setup, settings.steadyMs);
  const throughMs = await sendAll(setup.route, settings.events);
  const often = await measurePace(setup, settings.paces.often);
  const seldom = await measurePace(setup, settings.paces.seldom);
  return {
    ...steady,
    throughMs,
    oftenCpuUs: often.cpuUs,
    often: often.latencies,
    seldomCpuUs: seldom.cpuUs,
  };
}

async function measureSteady({ command, route }: Setup, durationMs: number) {
  const beforeUs = command.cpuUs();
  const memory = watchPeak(command.privateMb);
  const { accepted, delivered, elapsedMs } = await sendFor(route, durationMs).finally(memory.stop);
  return {
    deliveredPerSecond: (delivered * 1000) / elapsedMs,
    busyCpuUs: spent(beforeUs, command, accepted),
    privateMb: memory.peak(),
  };
}

async function measurePace({ command, route }: Setup, pace: Pace) {
  const beforeUs = command.cpuUs();
  const latenciesMs = await sendAtPace(route, pace);
  const sorted = Float64Array.from(latenciesMs).sort();
  const at = (fraction: number) => percentile(sorted, fraction);
  return {
    cpuUs: spent(beforeUs, command, latenciesMs.length),
    latencies: { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) },
  };
}

// Only acknowledged events must arrive. Requests in flight got no response.
async function measureKill(setup: Setup, events: number): Promise<number> {
  const caller = createCaller(setup.command.url);
  const acknowledged = new Set<string>();
  let next = 0;
  const send = async () => {
    while (next < events) {
      const mark = `kill-${setup.workers}-${next++}`;
      await caller.call(eventOf(setup.route.path, mark), 200);
      acknowledged.add(mark);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, send));
  await setup.command.kill();
  caller.close();
  const beganMs = performance.now();
  setup.command = await setup.start();
  setup.route.url = setup.command.url;
  while (acknowledged.size > 0) {
    if (performance.now() - beganMs > arriveWithinMs)
      throw new Error(`${acknowledged.size} events were acknowledged and did not arrive after kill -9`);
    for (const mark of (await setup.route.destination.takeArrivals()).keys()) acknowledged.delete(mark);
    await sleep(lookEveryMs);
  }
  return performance.now() - beganMs;
}

const spent = (beforeUs: number | undefined, { cpuUs }: Command, events: number): number | undefined =>
  beforeUs === undefined ? undefined : (cpuUs()! - beforeUs) / events;

function medianOf(rounds: readonly Round[]): Round {
  const of = (pick: (round: Round) => number) => median(rounds.map(pick));
  const ifKnown = (pick: (round: Round) => number | undefined) =>
    rounds.some(round => pick(round) === undefined) ? undefined : of(round => pick(round)!);
  return {
    deliveredPerSecond: of(round => round.deliveredPerSecond),
    throughMs: of(round => round.throughMs),
    busyCpuUs: ifKnown(round => round.busyCpuUs),
    oftenCpuUs: ifKnown(round => round.oftenCpuUs),
    seldomCpuUs: ifKnown(round => round.seldomCpuUs),
    often: {
      p50Ms: of(round => round.often.p50Ms),
      p95Ms: of(round => round.often.p95Ms),
      p99Ms: of(round => round.often.p99Ms),
    },
    privateMb: ifKnown(round => round.privateMb),
  };
}
