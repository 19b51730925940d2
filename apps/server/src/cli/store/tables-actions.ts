import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type AnyTable, type CapacityEntry, type ControlPlane, createTables, designDoc } from '@stak/table';
import { readStoreConfig } from '../../config/config.ts';
import { UsageError } from '../../config/errors.ts';
import { readText, readWhole } from '../../config/flags.ts';
import { measureDesign } from '../../store/costs.ts';
import { openDatabase } from '../../store/database.ts';
import { designs } from '../../store/designs.ts';
import type { FlagsOf } from '../action.ts';
import { note, printJson, printTable } from '../print.ts';
import type { options } from './tables.ts';

type Flags = FlagsOf<typeof options>;

export const actions = { list, create, doc, cost };

async function list(flags: Flags): Promise<void> {
  const tables = await readDesigns(flags);
  if (flags.json)
    return printJson(
      tables.map(({ name, entities, queries, indexes, ttl, stream }) => ({
        name,
        entities: entities.map(entity => entity.name),
        indexes: Object.keys(indexes),
        queries: queries.map(query => query.name),
        ttl: ttl ?? null,
        stream: stream ?? null,
      })),
    );
  const rows = tables.map(({ name, entities, queries, indexes, ttl, stream }) => [
    name,
    String(entities.length),
    String(Object.keys(indexes).length),
    String(queries.length),
    ttl ?? '–',
    stream ?? '–',
  ]);
  printTable([['table', 'entities', 'indexes', 'queries', 'expires by', 'stream'], ...rows]);
}

async function create(flags: Flags): Promise<void> {
  const tables = await readDesigns(flags);
  await withControl(flags, async control => {
    const recovery = flags.region !== undefined || flags.endpoint !== undefined;
    const progress = (table: string, what: string) => console.log(`${table}: ${what}`);
    const options = { progress, recovery, ...(flags.warm !== undefined && { warmUnits: readWarm(flags) }) };
    for (const { table, done } of await createTables(control, tables, options))
      if (done.length === 0) console.log(`${table}: is as designed`);
  });
}

// A new table takes 12,000 read units without it. The most is what AWS allows a table after asking for much more.
const readWarm = ({ warm }: Flags): number => readWhole('--warm', warm, 12_000, 10_000_000);

async function withControl(flags: Flags, work: (control: ControlPlane) => Promise<void>): Promise<void> {
  const database = await openDatabase(readStoreConfig(flags));
  try {
    await work(database.control);
    await database.settled();
  } finally {
    await database.close();
  }
}

async function doc(flags: Flags): Promise<void> {
  const stale: string[] = [];
  for (const table of await readDesigns(flags)) {
    note(`Measuring ${table.name}…`);
    const page = designDoc(table, await measureDesign(table));
    if (flags.to === undefined) {
      console.log(page);
      continue;
    }
    const file = join(readText('--to', flags.to), `${table.name}.md`);
    if (!flags.check) await writePage(file, page);
    else if ((await readFile(file, 'utf8').catch(() => '')) !== page) stale.push(file);
  }
  if (stale.length > 0)
    throw new UsageError(`out of date: ${stale.join(', ')}; write them with stak tables doc --to`);
}

async function writePage(file: string, page: string): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, page);
  console.log(`Wrote ${file}`);
}

async function cost(flags: Flags): Promise<void> {
  const costs: CapacityEntry[] = [];
  for (const table of await readDesigns(flags)) {
    note(`Measuring ${table.name}…`);
    costs.push(...(await measureDesign(table)));
  }
  if (flags.json) return printJson(costs);
  const average = (units: number, calls: number) => (units === 0 ? '–' : (units / calls).toFixed(1));
  const rows = costs.map(({ table, pattern, calls, readUnits, writeUnits }) => [
    `${table}: ${pattern}`,
    average(readUnits, calls),
    average(writeUnits, calls),
  ]);
  printTable([['access pattern', 'read units', 'write units'], ...rows]);
}

async function readDesigns({ from }: Flags): Promise<readonly AnyTable[]> {
  if (from === undefined) return designs;
  const file = readText('--from', from);
  if (/\.[mc]?ts$/.test(file)) await loadTypeScript(file);
  const module: object = await import(pathToFileURL(resolve(file)).href).catch(error => {
    throw new UsageError(`cannot load ${file}: ${(error as Error).message}`);
  });
  const tables = Object.values(module).filter(isTable);
  if (tables.length === 0) throw new UsageError(`${file} exports no table design`);
  return tables;
}

// Node reads TypeScript by itself from 22.18 on. Before, tsx does so where it is installed; the server does without it.
async function loadTypeScript(file: string): Promise<void> {
  if (import.meta.url.endsWith('.ts')) return; // running from sources, a loader is active already
  for (const from of [resolve(file), import.meta.url]) {
    const loader = await importFrom<typeof import('tsx/esm/api')>(from, 'tsx/esm/api');
    if (loader) return void loader.register();
  }
  const { typescript = false } = process.features as { typescript?: string | false };
  if (!typescript)
    throw new UsageError(`Node ${process.versions.node} reads TypeScript by tsx only: npm install tsx`);
}

// Imported as a module: what tsx gives to require() does not find its own files.
async function importFrom<Module>(file: string, name: string): Promise<Module | undefined> {
  try {
    const path = createRequire(file)
      .resolve(name)
      .replace(/\.cjs$/, '.mjs');
    return (await import(pathToFileURL(path).href)) as Module;
  } catch {
    return undefined;
  }
}

const isTable = (value: unknown): value is AnyTable =>
  typeof value === 'object' && value !== null && 'keyNames' in value && 'entities' in value;
