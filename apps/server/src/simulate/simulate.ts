import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@stak/client';
import type { PartitionUsage } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { type DueShards, readServerConfig, usualDueShards } from '../config.ts';
import { startServer } from '../server.ts';
import { openFlows, repeat, type Size, type Way } from './flows.ts';
import { type Heat, heatOf, hottestEverywhere, isWork } from './heat.ts';

export type Simulated = { name: string; rate: string; ways: { place: string; heat: Heat }[] };

export type SimulateOptions = {
  quietMs?: number; // without writes for this long, the consumers are done, and have counted (once a second)
  dueShards?: DueShards;
  note?: (line: string) => void;
};

const longestMs = 20_000;
// What is busy is cached, and counted once a second for many operations; what is quiet pays for each one.
const busyRounds = 8;

// Runs the whole server on a store in memory that reports which partition is used by what. Every flow runs once in each
// of `accounts` accounts, and several times as often in one account.
export async function simulate(
  accounts: number,
  { quietMs = 1_500, dueShards = usualDueShards, note = () => {} }: SimulateOptions = {},
): Promise<Simulated[]> {
  const size: Size = { operations: accounts * busyRounds, accounts };
  const meter = createMeter(quietMs, dueShards);
  const config = { ...simulatedConfig(), dueShards };
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
    onUsage: meter.note,
  });
  const baseUrl = server.localUrl;
  try {
    const { flows, close } = await openFlows({ baseUrl, account: createAccounts(baseUrl) });
    const simulated: Simulated[] = [];
    try {
      for (const { name, rate, prepare, ways, ignores = [] } of flows) {
        note(`${name}…`);
        await prepare(size);
        await meter.settle();
        const found: Simulated = { name, rate, ways: [] };
        for (const way of ways) {
          const isLast = way === ways.at(-1);
          const heat = await meter.measure(way, isLast ? size.accounts : size.operations, ignores);
          const hottest = isLast ? hottestEverywhere(heat.keys) : heat.hottest;
          found.ways.push({ place: way.scope, heat: { ...heat, hottest } });
        }
        simulated.push(found);
      }
    } finally {
      close();
    }
    return simulated;
  } finally {
    await server.stop();
  }
}

const simulatedConfig = () =>
  readServerConfig(
    { port: 0, memory: true, demo: false },
    {
      STAK_LAKE: 'off',
      STAK_REQUESTS_PER_MINUTE: '1000000',
      STAK_TRUSTED_PROXY_HOPS: '1', // few accounts may sign up from one address, so each sends its own
      STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
    },
  );

// Runs something many times, and returns what each partition used for it.
function createMeter(quietMs: number, dueShards: DueShards) {
  let usages: PartitionUsage[] = [];
  let writtenMs = 0;
  const settle = async () => {
    const startMs = performance.now();
    writtenMs = startMs;
    while (performance.now() - writtenMs < quietMs && performance.now() - startMs < longestMs)
      await sleep(20);
  };
  return {
    settle,
    note(usage: PartitionUsage): void {
      usages.push(usage);
      if (usage.kind === 'write' && isWork(usage)) writtenMs = performance.now();
    },
    async measure({ act }: Way, operations: number, ignored: readonly string[]): Promise<Heat> {
      usages = [];
      await repeat(operations, act);
      await settle();
      const counted = usages.filter(({ table }) => !ignored.includes(table));
      return heatOf(counted, operations, dueShards);
    },
  };
}

// Signs up for an account when it is first used.
function createAccounts(baseUrl: string) {
  const accounts = new Map<number, Promise<Client>>();
  const signUp = async (index: number): Promise<Client> => {
    const body = {
      email: `account-${index}@example.com`,
      password: crypto.randomUUID(),
      name: 'Ann',
      cookie: false,
    };
    const headers = { 'X-Forwarded-For': `192.0.2.${index % 256}` };
    const { data } = await createClient({ baseUrl }).accounts.signUp({ body }, { headers });
    return createClient({ baseUrl, token: data.access_token });
  };
  return (index: number): Promise<Client> => {
    const account = accounts.get(index) ?? signUp(index);
    accounts.set(index, account);
    return account;
  };
}
