import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@stak/client';
import type { PartitionUsage } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { type DueShards, readServerConfig, usualDueShards } from '../config.ts';
import { startServer } from '../server.ts';
import { openFlows, type Way } from './flows.ts';
import { type Heat, heatOf, isWork } from './heat.ts';

export type Simulated = { name: string; rate: string; ways: { place: string; heat: Heat }[] };

export type SimulateOptions = {
  quietMs?: number; // without writes for this long, the consumers are done, and have counted (once a second)
  dueShards?: DueShards;
  note?: (line: string) => void;
};

const longestMs = 20_000;
const atOnce = 16; // as under load, where counters of several operations are written together

// Runs the whole server on a store in memory that reports which partition is used by what, and runs every flow `count`
// times in each of its ways.
export async function simulate(
  count: number,
  { quietMs = 1_500, dueShards = usualDueShards, note = () => {} }: SimulateOptions = {},
): Promise<Simulated[]> {
  const meter = createMeter(count, quietMs);
  const config = { ...simulatedConfig(), dueShards };
  const server = await startServer(config, {
    log: createLogger({ level: 'silent' }),
    passwordCost: { logN: 4, r: 8, p: 1 },
    onUsage: meter.note,
  });
  const baseUrl = server.localUrl;
  const signUp = createSignUp(baseUrl);
  try {
    const { flows, close } = await openFlows({ baseUrl, client: await signUp(), signUp });
    const simulated: Simulated[] = [];
    try {
      for (const { name, rate, prepare, ways, ignores = [] } of flows) {
        note(`${name}…`);
        await prepare(count);
        const found: Simulated = { name, rate, ways: [] };
        for (const way of ways)
          found.ways.push({ place: way.place, heat: await meter.measure(way, ignores) });
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

// Runs something `count` times, and returns what each partition used for it.
function createMeter(count: number, quietMs: number) {
  let usages: PartitionUsage[] = [];
  let writtenMs = 0;
  const settle = async () => {
    const startMs = performance.now();
    writtenMs = startMs;
    while (performance.now() - writtenMs < quietMs && performance.now() - startMs < longestMs)
      await sleep(20);
  };
  return {
    note(usage: PartitionUsage): void {
      usages.push(usage);
      if (usage.kind === 'write' && isWork(usage)) writtenMs = performance.now();
    },
    async measure({ act }: Way, ignored: readonly string[]): Promise<Heat> {
      await settle();
      usages = [];
      for (let from = 0; from < count; from += atOnce) {
        const size = Math.min(atOnce, count - from);
        await Promise.all(Array.from({ length: size }, (_, index) => act(from + index)));
      }
      await settle();
      return heatOf(
        usages.filter(({ table }) => !ignored.includes(table)),
        count,
      );
    },
  };
}

// Each call creates another account, and returns its client.
function createSignUp(baseUrl: string) {
  let accounts = 0;
  return async () => {
    const email = `account-${++accounts}@example.com`;
    const body = { email, password: crypto.randomUUID(), name: 'Ann', cookie: false };
    const headers = { 'X-Forwarded-For': `192.0.2.${accounts % 256}` };
    const { data } = await createClient({ baseUrl }).accounts.signUp({ body }, { headers });
    return createClient({ baseUrl, token: data.access_token });
  };
}
