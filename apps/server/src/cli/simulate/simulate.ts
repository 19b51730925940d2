import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, createClient } from '@stak/client';
import type { PartitionUsage } from '@stak/engine';
import { createLogger } from '@stak/kit';
import type { ControlPlane } from '@stak/table';
import { type DueShards, readServerConfig, usualDueShards } from '../../config/config.ts';
import { startServer } from '../../process/server.ts';
import { type Flow, openFlows, repeat, type Size, type Way } from './flows.ts';
import { type Heat, heatOf, hottestEverywhere, isWork } from './heat.ts';
import { openLocalModel } from './local-model.ts';
import { readStored } from './stored.ts';

export type Simulated = { name: string; rate: string; ways: { place: string; heat: Heat }[] };

export type SimulateOptions = {
  quietMs?: number; // without writes for this long, the consumers are done, and have counted (once a second)
  dueShards?: DueShards;
  note?: (line: string) => void;
};

const longestMs = 20_000;
// Reads of busy items are cached, and counted once a second for many operations. Quiet ones are paid for each time.
const busyRounds = 8;

// Runs the whole server on a store in memory that reports which partition is used by what. Every flow runs once in each
// of `accounts` accounts, and several times as often in one account.
export async function simulate(
  accounts: number,
  { quietMs = 1_500, dueShards = usualDueShards, note = () => {} }: SimulateOptions = {},
): Promise<Simulated[]> {
  const meter = createMeter(quietMs);
  const model = await openLocalModel();
  let control: ControlPlane | undefined;
  const variables = simulatedVariables(model.url);
  const config = { ...readServerConfig({ port: 0, memory: true, demo: false }, variables), dueShards };
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
    onUsage: meter.note,
    onOpened: database => {
      control = database.control;
    },
  }).catch(async error => {
    await model.close();
    throw error;
  });
  const simulated: Simulated[] = [];
  const measureWay = async (way: Way, operations: number, { ignores = [] }: Flow): Promise<Heat> => {
    const before = await readStored(control!, ignores);
    const usages = await meter.measure(() => repeat(operations, way.act));
    const counted = usages.filter(({ table }) => !ignores.includes(table));
    return heatOf(counted, operations, dueShards, (await readStored(control!, ignores)) - before);
  };
  try {
    await runFlows(server.localUrl, accounts, {
      note,
      settle: meter.settle,
      async onWay(flow, way, operations) {
        const heat = await measureWay(way, operations, flow);
        if (way === flow.ways[0]) simulated.push({ name: flow.name, rate: flow.rate, ways: [] });
        const isLast = way === flow.ways.at(-1);
        const hottest = isLast ? hottestEverywhere(heat.keys) : heat.hottest;
        simulated.at(-1)!.ways.push({ place: way.scope, heat: { ...heat, hottest } });
      },
    });
    return simulated;
  } finally {
    await server.stop();
    await model.close();
  }
}

type Runs = {
  note?(line: string): void;
  settle(): Promise<void>; // when what was prepared has had its effects
  onWay(flow: Flow, way: Way, operations: number): Promise<void>; // has to run the operations
};

/** Prepares each flow, and hands over each of its ways to be run and measured. */
export async function runFlows(baseUrl: string, accounts: number, runs: Runs): Promise<void> {
  const size: Size = { operations: accounts * busyRounds, accounts };
  const { flows, close } = await openFlows({ baseUrl, account: createAccounts(baseUrl) });
  try {
    for (const flow of flows) {
      runs.note?.(`${flow.name}…`);
      await flow.prepare(size);
      await runs.settle();
      for (const way of flow.ways)
        await runs.onWay(flow, way, way === flow.ways.at(-1) ? size.accounts : size.operations);
    }
  } finally {
    close();
  }
}

/** Environment variables of a server that flows can run on. */
export const simulatedVariables = (modelUrl: string) => ({
  STAK_LAKE: 'off',
  STAK_REQUESTS_PER_MINUTE: '1000000',
  STAK_TRUSTED_PROXY_HOPS: '1', // few accounts may sign up from one address, so each sends its own
  STAK_OUTBOUND_ALLOW: '127.0.0.0/8',
  STAK_OPENAI_URL: modelUrl,
});

// Runs something, and returns what each partition used for it.
function createMeter(quietMs: number) {
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
    async measure(run: () => Promise<void>): Promise<readonly PartitionUsage[]> {
      usages = [];
      await run();
      await settle();
      return usages;
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
