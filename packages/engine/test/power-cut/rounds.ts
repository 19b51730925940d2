import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createEngine, type Engine } from '../../src/index.ts';
import type { Entry } from '../crash/journal.ts';
import { createRandom, type Random } from '../crash/random.ts';
import { createTables } from '../crash/tables.ts';
import { verifyData } from '../crash/verification.ts';
import { execute, type Operation, planOperation } from '../crash/workload.ts';
import { type DiskState, recordDisk, writeState } from './disk.ts';

// A power failure, many times: two engines write to one store, the disk is recorded, and at some moments the power
// fails. Of each moment several states of the disk are opened. Each must hold everything that had been acknowledged,
// and of the rest all or nothing.

export type CampaignOptions = {
  root: string;
  seed: number;
  states: number; // in all
  statesPerCut: number;
  cutsPerRound: number;
  log(line: string): void;
};

type Cut = { disk: DiskState; operations: Entry<Operation>[] };

const writersPerEngine = 6;
// Small, so that files are used again and checkpoints happen within a round.
const journal = { fileBytes: 48 * 1024, checkpointMs: 60, reuseBytes: 64 * 1024 };

export async function runCampaign({
  root,
  seed,
  states,
  statesPerCut,
  cutsPerRound,
  log,
}: CampaignOptions): Promise<{ states: number; violations: string[] }> {
  const violations: string[] = [];
  let opened = 0;
  for (let round = 0; opened < states; round++) {
    const random = createRandom('power-cut', seed, round);
    const folder = join(root, `round-${round}`);
    await mkdir(folder, { recursive: true });
    const cuts = await collectCuts(join(folder, 'store'), random, cutsPerRound);
    for (const [n, cut] of cuts.entries()) {
      for (let state = 0; state < statesPerCut && opened < states; state++, opened++) {
        const name = `seed ${seed}, round ${round}, cut ${n}, state ${state}`;
        const found = await verifyState(join(folder, 'cut'), cut, createRandom(seed, round, n, state));
        for (const problem of found) log(`${name}: ${problem}`);
        violations.push(...found.map(problem => `${name}: ${problem}`));
      }
    }
    await rm(folder, { recursive: true });
  }
  return { states: opened, violations };
}

async function collectCuts(path: string, random: Random, count: number): Promise<Cut[]> {
  const cuts: Cut[] = [];
  const operations: Entry<Operation>[] = [];
  let events = 0;
  let next = 0;
  let isSetUp = false;
  const cut = () => {
    if (!isSetUp || cuts.length >= count || ++events < next) return;
    events = 0;
    next = 20 + random.below(60);
    const known = operations.map(({ intent, done }) => ({ intent, done }));
    cuts.push({ disk: disk.capture(), operations: known });
  };
  const disk = recordDisk(path, cut);
  const open = () => createEngine({ path, sweepIntervalMs: 0, journal });
  const engines = [await open(), await open()];
  await engines[0]!.history!.maintain(never);
  await createTables(engines[0]!);
  isSetUp = true;
  next = random.below(60);
  const isOver = () => cuts.length >= count;
  const writing = engines.flatMap((engine, e) =>
    Array.from({ length: writersPerEngine }, (_, w) => {
      const writer = e * writersPerEngine + w;
      return write(engine, createRandom(random.below(2 ** 30)), writer, operations, isOver);
    }),
  );
  const looking = (async () => {
    while (!isOver()) {
      if (random.below(8) === 0) disk.look(join(path, 'stak.mdb'));
      // Files of the journal are archived, and used again, while others write.
      if (random.below(40) === 0) void engines[0]!.history!.maintain(never);
      cut();
      await setImmediate();
    }
  })();
  await Promise.all([...writing, looking]);
  await engines[0]!.history!.maintain(never);
  disk.stop();
  for (const engine of engines) await engine.close();
  return cuts;
}

async function write(
  engine: Engine,
  random: Random,
  writer: number,
  operations: Entry<Operation>[],
  isOver: () => boolean,
): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const entry = { intent: planOperation(random, `${writer}.${n}`, writer, false), done: false };
    operations.push(entry);
    await execute(engine.client, entry.intent);
    entry.done = true;
  }
}

// A history that was cut says that it does not go to the end, or has the same as the store.
async function verifyHistory(engine: Engine, to: string): Promise<string[]> {
  try {
    await engine.history!.restore(to, Number.POSITIVE_INFINITY);
  } catch {
    return [];
  }
  const restored = await createEngine({ path: to, sweepIntervalMs: 0 });
  try {
    const same = isDeepStrictEqual(await contentOf(restored), await contentOf(engine));
    return same ? [] : ['the history is another one than that of the store'];
  } finally {
    await restored.close();
  }
}

async function contentOf({ client, execute }: Engine): Promise<unknown> {
  const { TableNames } = (await execute('ListTables', {})) as { TableNames: string[] };
  return Promise.all(TableNames.map(async TableName => (await client.scan({ TableName })).Items));
}

const never = new AbortController().signal;

async function verifyState(path: string, { disk, operations }: Cut, random: Random): Promise<string[]> {
  await mkdir(path);
  writeState(disk, random, path);
  try {
    const engine = await createEngine({ path, sweepIntervalMs: 0 });
    try {
      const problems = await verifyData(engine, operations);
      problems.push(...(await verifyHistory(engine, join(path, 'from-history'))));
      // It goes on from there, and is whole when it is opened again.
      await engine.client.put({ TableName: 'stock', Item: { pk: 'after', sk: 'the cut' } });
      return problems;
    } finally {
      await engine.close();
    }
  } catch (error) {
    return [`it does not open: ${(error as Error).stack}`];
  } finally {
    await rm(path, { recursive: true });
  }
}
