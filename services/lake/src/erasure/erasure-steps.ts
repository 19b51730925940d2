import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import type { RewriteDeps } from '../compaction/rewrite-files.ts';
import { quoteText, readFiles } from '../duckdb/sql-text.ts';
import { type LakeTable, locateAll } from '../lake-table.ts';
import { ownerCondition } from '../scope.ts';
import { GoneError } from '../storage/objects.ts';
import type { Owner } from '../tables.ts';

// `living` are rows to keep, as SQL.
export async function eraseSilver(
  lakeTable: LakeTable,
  deps: RewriteDeps,
  entity: string,
  owner: Owner,
  living: string | undefined,
): Promise<void> {
  const { manifest, clock } = lakeTable;
  const silver = (await manifest.read()).silver[entity];
  if (!silver) return;
  const isHis = ownerCondition(owner, 'silver');
  const condition = living === undefined ? isHis : `${isHis} and _key not in (select _key from ${living})`;
  const written = await rewriteWithout(lakeTable, deps, silver.path, condition);
  if (!written) return;
  const { path, rows, bytes } = written;
  const next = { ...silver, path, rows, bytes };
  const entry = await manifest.commit(now =>
    now.silver[entity]?.path === silver.path ? { at: clock.now(), silver: { [entity]: next } } : undefined,
  );
  if (!entry) return giveUp(lakeTable, path);
}

// Clearing the signature makes compaction compute the sums again from silver, where some of the owner's rows may stay.
export async function eraseGold(
  lakeTable: LakeTable,
  deps: RewriteDeps,
  name: string,
  owner: Owner,
): Promise<void> {
  const { manifest, clock } = lakeTable;
  const gold = (await manifest.read()).gold[name];
  if (!gold) return;
  const written = await rewriteWithout(lakeTable, deps, gold.path, ownerCondition(owner, 'silver'));
  if (!written) return;
  const { path, bytes } = written;
  const next = { ...gold, path, bytes, ...(gold.isRunning ? {} : { signature: '' }) };
  const entry = await manifest.commit(now =>
    now.gold[name]?.path === gold.path ? { at: clock.now(), gold: { [name]: next } } : undefined,
  );
  if (!entry) return giveUp(lakeTable, path);
}

// A compaction replaced the file first. The caller retries with the new file.
async function giveUp({ objects }: LakeTable, path: string): Promise<never> {
  await objects.delete(path);
  throw new GoneError(`a compaction was faster than ${path}`);
}

async function rewriteWithout(
  { objects }: LakeTable,
  { duck, scratch }: RewriteDeps,
  key: string,
  condition: string,
): Promise<{ path: string; rows: number; bytes: number } | undefined> {
  const source = readFiles(await locateAll(objects, [key]));
  const { rows: found } = await duck.run({
    scratch,
    prepare: [],
    sql: `select count(*) from ${source} where ${condition}`,
  });
  if (Number(found[0]?.[0]) === 0) return undefined;
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const file = join(scratch, `${randomUUID()}.parquet`);
  try {
    const copy = `copy (select * from ${source} where not (${condition})) to ${quoteText(file)} (format parquet)`;
    const count = `select count(*) from read_parquet(${quoteText(file)})`;
    const { rows } = await duck.run({ scratch, prepare: [copy], sql: count });
    const bytes = (await stat(file)).size;
    const path = posix.join(posix.dirname(key), `erased-${randomUUID()}.parquet`);
    await objects.putFile(path, file);
    return { path, rows: Number(rows[0]?.[0]), bytes };
  } finally {
    await rm(file, { force: true });
  }
}

// The owner of a dead letter is unknown, so every letter that mentions the owner's ids is deleted.
export async function eraseLetters({ manifest, objects, clock }: LakeTable, owner: Owner): Promise<void> {
  const ids = Object.values(owner).filter(id => id !== undefined);
  const answered: string[] = [];
  for (const { path } of [...(await manifest.read()).letters]) {
    const body = await objects.get(path);
    const text = body === undefined ? '' : plainText(Buffer.from(body).toString('utf8'));
    if (ids.every(id => text.includes(JSON.stringify(id).slice(1, -1)))) answered.push(path);
  }
  if (answered.length === 0) return;
  await manifest.commit(() => ({ at: clock.now(), answered }));
  for (const path of answered) await objects.delete(path);
}

// Keys hold ids percent-encoded.
function plainText(text: string): string {
  const decoded = text.replace(/(?:%[0-9A-Fa-f]{2})+/g, encoded => {
    try {
      return JSON.stringify(decodeURIComponent(encoded)).slice(1, -1);
    } catch {
      return encoded;
    }
  });
  return `${text}\n${decoded}`;
}
