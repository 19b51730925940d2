import assert from 'node:assert';
import { type Clock, type Logger, yieldToEventLoop } from '@stak/kit';
import { type Change, type Subscription, subscribe } from '@stak/streams';
import type { AnyEntity } from '@stak/table';
import * as limits from '../limits.ts';
import type { Manifest } from '../storage/manifest.ts';
import type { Entry, State } from '../storage/manifest-state.ts';
import { keyPart, type ObjectStore } from '../storage/objects.ts';
import { noTexts, type Plan, type Texts, type TextsNow } from '../tables.ts';
import { type BronzeFile, bronzeFormat, bronzePath, encodeRows, firstAt, groupRows } from './bronze-file.ts';
import { type NewLetter, writeLetter } from './dead-letters.ts';
import { createRows, type Row, typedChange, wantedRows } from './rows.ts';
import { compareSequences, isCaptured } from './shard-mark.ts';

export type CaptureDeps = {
  objects: ObjectStore;
  manifest: Manifest;
  plan: Plan;
  texts: Texts;
  clock: Clock;
  log: Logger;
  flushMs: number;
  onCaptured?(): void;
};

export const subscriptionName = (table: string): string => `lake-${table.toLowerCase()}`;

// Writes files, then the manifest; then the consumer writes its checkpoint. After a crash in between, the same page or
// a longer one is delivered again. The commit that lists the files also says which records they contain, so none counts
// twice.
export function captureChanges(deps: CaptureDeps): Subscription {
  const { plan, clock } = deps;
  return subscribe({
    name: subscriptionName(plan.table.name),
    table: plan.table,
    entities: [], // as stored: the keys exclude most of them, which is cheaper than to recognise each
    batchRecords: limits.batchRecords,
    // An unavailable store is retried for ever; a record that cannot be read becomes a dead letter of its own.
    attempts: Number.MAX_SAFE_INTEGER,
    needsConsumer: true, // files are named for the shard, and one process writes few large ones
    async handleBatch(changes, { shardId, signal }) {
      assert(shardId !== undefined);
      const bytes = await captureBatch(deps, shardId, changes);
      deps.onCaptured?.();
      // Changes that arrive in the meantime are in the same batch.
      const isLarge = changes.length >= limits.batchRecords || bytes >= limits.batchBytes;
      if (!isLarge && !isBehind(deps, changes)) await clock.sleep(deps.flushMs, signal).catch(() => {});
    },
  });
}

// A change this old is followed by more. DynamoDB gives the time of a change in whole seconds.
const isBehind = ({ clock, flushMs }: CaptureDeps, changes: readonly Change<AnyEntity>[]): boolean =>
  clock.now() - (changes.at(-1)?.at.getTime() ?? 0) > flushMs + 1000;

// Returns how many bytes of images were captured.
async function captureBatch(
  deps: CaptureDeps,
  shard: string,
  changes: readonly Change<AnyEntity>[],
): Promise<number> {
  const { manifest, objects, clock, log, plan } = deps;
  const ordered = [...changes].sort((a, b) => compareSequences(a.sequence, b.sequence));
  const last = ordered.at(-1)?.sequence;
  if (last === undefined) return 0;
  const written = new Map<string, Uint8Array>();
  let listed: ReadonlySet<string> = new Set();
  let bytes = 0;

  await manifest.commit(async (state): Promise<Entry | undefined> => {
    const fresh = ordered.filter(({ sequence }) => !isCaptured(state.shards[shard], sequence));
    // Read after the state: if texts are switched off and erased in between, this commit fails and is repeated.
    const texts = await (plan.texts.size > 0 ? deps.texts : noTexts).read();
    const { rows, letters } = await readRows(plan, shard, fresh, texts);
    bytes = rows.reduce((sum, row) => sum + (row.old?.length ?? 0) + (row.new?.length ?? 0), 0);
    listed = new Set();
    if (rows.length === 0 && letters.length === 0) return undefined;
    for (const { letter, body } of letters) {
      await objects.put(letter.path, body);
      log.error(
        { table: plan.table.name, letter: letter.path, reason: letter.error },
        'change moved to the dead letters',
      );
    }
    const add = await writeFiles(deps, state, shard, rows, written);
    listed = new Set(add.map(({ path }) => path));
    const captured = { shard, last, isPage: changes.length > 1 };
    const { generation } = state;
    return {
      at: clock.now(),
      captured,
      add,
      letters: letters.map(({ letter }) => ({ ...letter, generation })),
    };
  });
  // Files of a failed attempt, with texts that are no longer wanted.
  const left = [...written.keys()].filter(path => !listed.has(path));
  const { files } = left.length > 0 ? await manifest.read() : { files: new Map() };
  for (const path of left) if (!files.has(path)) await objects.delete(path);
  return bytes;
}

async function readRows(plan: Plan, shard: string, changes: readonly Change<AnyEntity>[], texts: TextsNow) {
  const rows: Row[] = [];
  const letters: NewLetter[] = [];
  const rowsOf = createRows(plan, texts.isAnyOn);
  for (const [i, change] of changes.entries()) {
    if (i % limits.rowsPerBatch === limits.rowsPerBatch - 1) await yieldToEventLoop();
    try {
      for (const row of rowsOf(change)) rows.push(row);
    } catch (error) {
      letters.push(writeLetter(plan, shard, typedChange(plan, change), error));
    }
  }
  return { rows: await wantedRows(rows, texts), letters };
}

// `written` are the files of an attempt that lost to another process.
export async function writeFiles(
  { objects, plan }: Pick<CaptureDeps, 'objects' | 'plan'>,
  { generation }: Pick<State, 'generation'>,
  shard: string,
  rows: readonly Row[],
  written: Map<string, Uint8Array> = new Map(),
): Promise<BronzeFile[]> {
  return Promise.all(
    groupRows(rows).map(async ({ entity, day, rows }) => {
      const name = `${keyPart(shard)}-${rows[0]!.sequence}-${rows.at(-1)!.sequence}`;
      const path = bronzePath(plan.table.name, entity, day, name);
      const body = await encodeRows(rows, shard, generation);
      const before = written.get(path);
      if (!before || Buffer.compare(before, body) !== 0) await objects.put(path, body);
      written.set(path, body);
      const isChained = rows.every(row => row.isChained);
      const about = { rows: rows.length, bytes: body.length, firstAt: firstAt(rows), format: bronzeFormat };
      const replaces = plan.texts.has(entity) && rows.some(({ kind }) => kind !== 'insert');
      return { path, entity, day, isChained, ...about, ...(replaces && { replacesTexts: true as const }) };
    }),
  );
}
