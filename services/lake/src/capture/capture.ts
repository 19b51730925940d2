import assert from 'node:assert';
import { type Clock, type Logger, yieldToEventLoop } from '@stak/kit';
import { type Change, type Subscription, subscribe } from '@stak/streams';
import type { AnyEntity } from '@stak/table';
import * as limits from '../limits.ts';
import { type BronzeFile, bronzeFormat, bronzePath } from '../storage/bronze-file.ts';
import type { Manifest } from '../storage/manifest.ts';
import type { Entry } from '../storage/manifest-state.ts';
import { keyPart, type ObjectStore } from '../storage/objects.ts';
import type { Reach } from '../storage/reach.ts';
import { compareSequences, isCaptured } from '../storage/shard-mark.ts';
import { noTexts, type Plan, type Texts, type TextsNow } from '../tables.ts';
import { createBronzeFiles, type WrittenFile } from './bronze-writer.ts';
import { type NewLetter, writeLetter } from './dead-letters.ts';
import { createRows, mayHaveRows, type Row, typedChange, wantedRows } from './rows.ts';

export type CaptureDeps = {
  objects: ObjectStore;
  manifest: Manifest;
  plan: Plan;
  texts: Texts;
  clock: Clock;
  log: Logger;
  flushMs: number;
  reach: Reach;
  onCaptured?(): void;
  recover?(): Promise<void>; // reads the table again
};

export const subscriptionName = (table: string): string => `lake-${table.toLowerCase()}`;

// Writes files, then the manifest; then the consumer writes its checkpoint. After a crash in between, the same page or
// a longer one is delivered again. The commit that lists the files also says which records they contain, so none counts
// twice.
export function captureChanges(deps: CaptureDeps): Subscription {
  const { plan, clock, reach, recover } = deps;
  return subscribe({
    name: subscriptionName(plan.table.name),
    table: plan.table,
    entities: [], // as stored: the keys exclude most of them, which is cheaper than to recognise each
    batchRecords: limits.batchRecords,
    // An unavailable store is retried for ever, by a node that reaches it if there is one; a record that cannot be read becomes a dead letter of its own.
    attempts: Number.MAX_SAFE_INTEGER,
    isAble: reach.isAble,
    ...(recover && { recover }),
    needsConsumer: true, // files are named for the shard, and one process writes few large ones
    async handleBatch(changes, { shardId, signal }) {
      assert(shardId !== undefined);
      const { bytes, hasCaptured } = await captureBatch(deps, shardId, changes).catch(error => {
        reach.noteFailure();
        throw error;
      });
      if (hasCaptured) {
        reach.noteStored();
        deps.onCaptured?.();
      }
      // Changes that arrive in the meantime are in the same batch.
      const isLarge = changes.length >= limits.batchRecords || bytes >= limits.batchBytes;
      if (!isLarge && !isBehind(deps, changes)) await clock.sleep(deps.flushMs, signal).catch(() => {});
    },
  });
}

// A change this old is followed by more. DynamoDB gives the time of a change in whole seconds.
const isBehind = ({ clock, flushMs }: CaptureDeps, changes: readonly Change<AnyEntity>[]): boolean =>
  clock.now() - (changes.at(-1)?.at.getTime() ?? 0) > flushMs + 1000;

// `bytes` are those of the images.
async function captureBatch(
  deps: CaptureDeps,
  shard: string,
  changes: readonly Change<AnyEntity>[],
): Promise<{ bytes: number; hasCaptured: boolean }> {
  const { manifest, objects, clock, log, plan } = deps;
  // Most changes of some tables are of counters and the like. They are not worth a look at the manifest.
  if (!changes.some(change => mayHaveRows(plan, change))) return { bytes: 0, hasCaptured: false };
  const ordered = [...changes].sort((a, b) => compareSequences(a.sequence, b.sequence));
  const last = ordered.at(-1)!.sequence;
  const written = new Map<string, Uint8Array>();
  let listed: ReadonlySet<string> = new Set();
  let bytes = 0;

  const entry = await manifest.commit(async (state): Promise<Entry | undefined> => {
    const fresh = ordered.filter(({ sequence }) => !isCaptured(state.shards[shard], sequence));
    // Read after the state: if texts are switched off and erased in between, this commit fails and is repeated.
    const texts = await (plan.texts.size > 0 ? deps.texts : noTexts).read();
    const { files, imageChars, letters } = await readFiles(plan, shard, state.generation, fresh, texts);
    bytes = imageChars;
    listed = new Set();
    if (files.length === 0 && letters.length === 0) return undefined;
    for (const { letter, body } of letters) {
      await objects.put(letter.path, body);
      log.error(
        { table: plan.table.name, letter: letter.path, reason: letter.error },
        'change moved to the dead letters',
      );
    }
    const add = await putFiles(deps, shard, files, written);
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
  return { bytes, hasCaptured: entry !== undefined };
}

// A part of the rows at a time: what is read of a change is not needed once it is written.
async function readFiles(
  plan: Plan,
  shard: string,
  generation: number,
  changes: readonly Change<AnyEntity>[],
  texts: TextsNow,
) {
  const files = await createBronzeFiles(shard, generation);
  const letters: NewLetter[] = [];
  const rowsOf = createRows(plan, texts.isAnyOn);
  for (let start = 0; start < changes.length; start += limits.rowsPerBatch) {
    if (start > 0) await yieldToEventLoop();
    const rows: Row[] = [];
    for (const change of changes.slice(start, start + limits.rowsPerBatch)) {
      try {
        for (const row of rowsOf(change)) rows.push(row);
      } catch (error) {
        letters.push(writeLetter(plan, shard, typedChange(plan, change), error));
      }
    }
    for (const row of await wantedRows(rows, texts)) files.add(row);
  }
  return { files: files.finish(), imageChars: files.imageChars(), letters };
}

// `written` are the files of an attempt that lost to another process.
export async function putFiles(
  { objects, plan }: Pick<CaptureDeps, 'objects' | 'plan'>,
  shard: string,
  files: readonly WrittenFile[],
  written: Map<string, Uint8Array> = new Map(),
): Promise<BronzeFile[]> {
  return Promise.all(
    files.map(async ({ entity, day, first, last, hasOnlyInserts, body, ...about }) => {
      const path = bronzePath(plan.table.name, entity, day, `${keyPart(shard)}-${first}-${last}`);
      const before = written.get(path);
      if (!before || Buffer.compare(before, body) !== 0) await objects.put(path, body);
      written.set(path, body);
      const replaces = plan.texts.has(entity) && !hasOnlyInserts;
      const file = { path, entity, day, ...about, bytes: body.length, format: bronzeFormat };
      return { ...file, ...(replaces && { replacesTexts: true as const }) };
    }),
  );
}
