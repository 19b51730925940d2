import { readFile } from 'node:fs/promises';
import type { Engine } from '../engine.ts';
import type { NativeItem } from '../values/marshal.ts';

/** Tables and items for a start: `tables` as for CreateTable, `items` plain, `requestItems` as for BatchWriteItem. */
export type Seed = {
  tables?: { TableName: string; [field: string]: unknown }[];
  items?: { [table: string]: NativeItem[] };
  requestItems?: { [table: string]: object[] };
};

/** A seed is not what it should be. */
export class SeedError extends Error {
  override readonly name = 'SeedError';
}

export async function readSeed(file: string): Promise<Seed> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new SeedError(`The seed ${file} cannot be read: ${error.message}`);
  });
  try {
    return JSON.parse(text) as Seed;
  } catch (error) {
    throw new SeedError(`The seed ${file} is no JSON: ${(error as Error).message}`);
  }
}

const fields = ['tables', 'items', 'requestItems'];
const requestsPerBatch = 25; // the limit of BatchWriteItem
const batchesAtOnce = 16;

/** Makes the tables of a seed and writes its items. A table that exists keeps what it has, and gets no items. */
export async function applySeed(engine: Engine, seed: Seed, source = 'The seed'): Promise<void> {
  if (typeof seed !== 'object' || seed === null || Array.isArray(seed))
    throw new SeedError(`${source} is no object with ${fields.join(', ')}`);
  const unknown = Object.keys(seed).find(name => !fields.includes(name));
  if (unknown !== undefined)
    throw new SeedError(`${source} has an unknown field: ${unknown}. It can have ${fields.join(', ')}`);
  try {
    const existing = await tableNames(engine);
    for (const table of seed.tables ?? [])
      if (!existing.has(table?.TableName)) await engine.execute('CreateTable', table);
    const isNew = ([table]: [string, unknown]) => !existing.has(table);
    const tagged = Object.entries(seed.requestItems ?? {}).filter(isNew);
    const plain = Object.entries(seed.items ?? {}).filter(isNew);
    await writeAll(tagged, RequestItems => engine.execute('BatchWriteItem', { RequestItems }));
    await writeAll(
      plain.map(([table, items]) => [table, items.map(Item => ({ PutRequest: { Item } }))]),
      RequestItems => engine.client.batchWrite({ RequestItems: RequestItems as never }),
    );
  } catch (error) {
    throw new SeedError(`${source} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}

async function tableNames(engine: Engine): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  let last: string | undefined;
  do {
    const page = (await engine.execute('ListTables', last ? { ExclusiveStartTableName: last } : {})) as {
      TableNames: string[];
      LastEvaluatedTableName?: string;
    };
    for (const name of page.TableNames) names.add(name);
    last = page.LastEvaluatedTableName;
  } while (last !== undefined);
  return names;
}

async function writeAll(
  requests: [table: string, requests: object[]][],
  write: (requestItems: { [table: string]: object[] }) => Promise<unknown>,
): Promise<void> {
  for (const [table, all] of requests) {
    const batches: object[][] = [];
    for (let at = 0; at < all.length; at += requestsPerBatch)
      batches.push(all.slice(at, at + requestsPerBatch));
    for (let at = 0; at < batches.length; at += batchesAtOnce)
      await Promise.all(batches.slice(at, at + batchesAtOnce).map(batch => write({ [table]: batch })));
  }
}
