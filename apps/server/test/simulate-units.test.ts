import { randomBytes } from 'node:crypto';
import { createEngine, createHttpServer } from '@stak/engine';
import { createLogger } from '@stak/kit';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { consumersOf, idleUnits } from '../src/cli/simulate/background.ts';
import { repeat } from '../src/cli/simulate/flows.ts';
import { openLocalModel } from '../src/cli/simulate/local-model.ts';
import { isPolled } from '../src/cli/simulate/owners.ts';
import { runFlows, simulate, simulatedVariables } from '../src/cli/simulate/simulate.ts';
import { readServerConfig } from '../src/config/config.ts';
import { startServer } from '../src/process/server.ts';
import { type CountedUnits, openCountingProxy } from './counting-proxy.ts';

// Compares what `stak simulate` says that an operation uses with what DynamoDB says: the same operations on a server
// with the AWS client, and the consumed capacity of every request that it sends.

const accounts = 12;
const tolerance = 0.05;
const leastUnits = 0.15; // of what is cached or added up for several operations
const quietMs = 3_000; // consumers poll every two seconds at least, and count once a second
const longestMs = 6_000;
const idleMs = 60_000; // in which every lease is renewed once

// As `heat.ts` has it: state of streams and reports of servers cost by the second, and so do lists of what is due.
const polled =
  /^(DUE|DUEMEMORY|REMIND|CATEGORY|ERASE)#|^(DELETION|ERASURES|SIGNING|COUNTED|tables|MAIL)$|^marks#/;
const isWork = ({ table, kind, keys }: CountedUnits): boolean =>
  table === 'stak-streams'
    ? keys.some(key => key.startsWith('once#'))
    : kind === 'write' || !keys.some(key => polled.test(key));

// Counts that are written once a second for all operations of that second, and what is read again each second: how many
// an operation pays depends on how quick the machine is.
const countsOf = /^(COUNTED$|COUNTS#|USAGE#|TOTAL#|MONTH#)/;
const settings = /^t#[^#]+$/; // of the inboxes of a tenant
const isBySecond = (table: string, kind: string, keys: readonly string[]): boolean =>
  table === 'stak-storage' ||
  (table.startsWith('ferryhook') && (kind === 'read' || keys.some(key => countsOf.test(key)))) ||
  (kind === 'read' && keys.some(key => settings.test(key)));

async function openCountedServer(note: (counted: CountedUnits) => void) {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
  const engine = await createEngine({ path: ':memory:' });
  const dynamo = createHttpServer(engine, { port: 0 });
  const proxy = await openCountingProxy((await dynamo.listen()).url, note);
  const model = await openLocalModel();
  const config = readServerConfig(
    { port: 0, demo: false },
    {
      ...simulatedVariables(model.url),
      STAK_STORE: 'aws',
      STAK_AWS_REGION: 'us-east-1',
      STAK_AWS_ENDPOINT: proxy.url,
      STAK_SECRET_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    },
  );
  const log = createLogger({ level: 'silent' });
  const server = await startServer(config, { log, passwordCost: { logN: 4, r: 8, p: 1 } });
  onTestFinished(async () => {
    await server.stop({ isAtOnce: true });
    await model.close();
    await proxy.close();
    await dynamo.close();
    await engine.close();
    vi.unstubAllEnvs();
  });
  return server;
}

type Units = { reads: number; writes: number; bySecond: number };
const kindOf = (kind: 'read' | 'write') => (kind === 'read' ? 'reads' : 'writes');
const none = (): Units => ({ reads: 0, writes: 0, bySecond: 0 });

async function countFlows(): Promise<{ found: Map<string, Units>; idle: { reads: number; writes: number } }> {
  let counted: CountedUnits[] = [];
  let writtenMs = 0;
  const idle = { read: 0, write: 0 };
  const server = await openCountedServer(one => {
    idle[one.kind] += one.units;
    if (!isWork(one)) return;
    counted.push(one);
    if (one.kind === 'write') writtenMs = performance.now();
  });
  const settle = async () => {
    const startMs = performance.now();
    writtenMs = startMs;
    while (performance.now() - writtenMs < quietMs && performance.now() - startMs < longestMs)
      await new Promise(resolve => setTimeout(resolve, 20));
  };
  const found = new Map<string, Units>();
  await runFlows(server.localUrl, accounts, {
    settle,
    async onWay({ name, ignores = [] }, { scope, act }, operations) {
      counted = [];
      await repeat(operations, act);
      await settle();
      const sum = none();
      for (const { table, kind, keys, units } of counted)
        if (!ignores.includes(table))
          sum[isBySecond(table, kind, keys) ? 'bySecond' : kindOf(kind)] += units / operations;
      found.set(`${name}, ${scope}`, sum);
    },
  });
  Object.assign(idle, { read: 0, write: 0 });
  await new Promise(resolve => setTimeout(resolve, idleMs));
  const perSecond = (units: number) => units / (idleMs / 1000);
  return { found, idle: { reads: perSecond(idle.read), writes: perSecond(idle.write) } };
}

async function simulateFlows(): Promise<Map<string, Units>> {
  const found = new Map<string, Units>();
  for (const { name, ways } of await simulate(accounts, { quietMs: 2_000 }))
    for (const { place, heat } of ways) {
      const sum = none();
      for (const one of heat.keys)
        if (!isPolled(one)) {
          const [table] = one.where.split('/') as [string];
          const key = one.key.replaceAll(/\{[^}]*\}/g, 'x');
          sum[isBySecond(table, one.kind, [key]) ? 'bySecond' : kindOf(one.kind)] += one.units;
        }
      found.set(`${name}, ${place}`, sum);
    }
  return found;
}

let counted: Map<string, Units>;
let idle: { reads: number; writes: number };
let simulated: Map<string, Units>;

describe('the units of an operation', { timeout: 280_000 }, () => {
  test('are counted on a server with the AWS client', async () => {
    ({ found: counted, idle } = await countFlows());
    expect(counted.size).toBeGreaterThanOrEqual(12);
  });

  test('are simulated', async () => {
    simulated = await simulateFlows();
    expect([...simulated.keys()]).toEqual([...counted.keys()]);
  });

  test.each(['writes', 'reads'] as const)('are the same, within five percent: %s', kind => {
    const off = [...counted].flatMap(([what, units]) => {
      const [used, said] = [units[kind], simulated.get(what)![kind]];
      return Math.abs(said - used) > Math.max(used * tolerance, leastUnits) ? [{ what, used, said }] : [];
    });
    expect(off).toEqual([]);
  });

  test('of a server that does nothing are as many as simulate adds', () => {
    // The leases are those of one of three servers; a server by itself renews all of them. The reports of its consumers
    // are renewed every five minutes, all of them in the minute that was counted or none.
    const leases = Object.values(consumersOf).reduce((sum, count) => sum + count, 0);
    const alone = { reads: 0, writes: ((2 / 3) * leases) / (idleMs / 1000) };
    for (const kind of ['reads', 'writes'] as const) {
      const said = idleUnits(1)[kind] + alone[kind];
      expect(idle[kind], kind).toBeGreaterThan(said * 0.7);
      const reports = kind === 'writes' ? leases / (idleMs / 1000) : 0;
      expect(idle[kind], kind).toBeLessThan(said * 1.3 + reports);
    }
  });

  test('are as large where they depend on how many operations a second has', () => {
    const off = [...counted].flatMap(([what, { bySecond: used }]) => {
      const said = simulated.get(what)!.bySecond;
      return used > 2.5 * said + 2 || said > 2.5 * used + 2 ? [{ what, used, said }] : [];
    });
    expect(off).toEqual([]);
  });
});
