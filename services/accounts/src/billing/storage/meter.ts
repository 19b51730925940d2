import assert from 'node:assert';
import { type Clock, yieldIfBusy } from '@stak/kit';
import { changesAfter, type Subscription, slotOf, subscribe, type UnknownChange } from '@stak/streams';
import { failedStep, is, type Store, tableErrors, type WriteStep, write } from '@stak/table';
import { inSeconds } from '../../deps.ts';
import * as limits from './limits.ts';
import { type AccountSum, createSums, everyone, ownedItem, type Summing } from './sums.ts';
import { requestRecount } from './table-state.ts';
import { count, type Mark, mark, type TableState, tableState } from './tables.ts';
import { addWritten } from './written.ts';

export type MeterDeps = { store: Store; clock: Clock };

const markStep = 'mark';

// Follows a table's stream and adds the changes of each page to the counts. The page's last sequence number is written
// in the same transaction, so a repeated page adds nothing.
export function meterTable<Kind extends string>(deps: MeterDeps, summing: Summing<Kind>): Subscription {
  const { clock } = deps;
  const { table } = summing;
  const marks = new Map<string, Mark>();

  async function countChanges(
    shard: string,
    changes: readonly UnknownChange[],
    signal: AbortSignal,
  ): Promise<void> {
    const at = marks.get(shard) ?? (await openMark(deps, table.name, shard, signal));
    const fresh = changesAfter(changes, at.through);
    const last = fresh.at(-1);
    if (!last) return void marks.set(shard, at);
    const steps = addSteps(at, await sumOf(summing, fresh), clock.now());
    if (steps.length > limits.countsTogether && fresh.length > 1) {
      const middle = Math.ceil(fresh.length / 2);
      await countChanges(shard, fresh.slice(0, middle), signal);
      return countChanges(shard, fresh.slice(middle), signal);
    }
    if (steps.length === 0) return void marks.set(shard, at);
    const next = { ...at, through: last.sequence, expires_at: inSeconds(clock.now()) + limits.markS };
    try {
      await deps.store.transact([[markStep, moveMark(at, next)], ...steps], {
        pattern: 'count storage',
      });
      marks.set(shard, next);
    } catch (error) {
      marks.delete(shard);
      if (failedStep(error)?.step !== markStep) throw error;
      // Another process has counted it, or a recount has begun.
      return countChanges(shard, fresh, signal);
    }
  }

  return subscribe({
    name: `storage-${table.name.toLowerCase()}`,
    table,
    entities: [],
    batchRecords: limits.pageRecords,
    gatherMs: limits.flushMs,
    attempts: Number.MAX_SAFE_INTEGER, // an unavailable store comes back
    needsConsumer: true, // storage is counted by shard
    recover: () => requestRecount(deps.store, clock.now(), table.name),
    async handleBatch(changes, { shardId, signal }) {
      assert(shardId !== undefined);
      await countChanges(shardId, changes as readonly UnknownChange[], signal);
    },
  });
}

async function sumOf<Kind extends string>(
  summing: Summing<Kind>,
  changes: readonly UnknownChange[],
): Promise<AccountSum[]> {
  const sums = createSums(summing.payers);
  for (const change of changes) {
    const pause = yieldIfBusy();
    if (pause) await pause; // an await takes longer than most changes
    sums.add(
      ownedItem(summing, change.keys, change.oldBytes, () => change.old),
      -1,
    );
    // The change log keeps both images. What is removed was written before.
    const written = change.newBytes === 0 ? 0 : change.newBytes + change.oldBytes;
    sums.add(
      ownedItem(summing, change.keys, change.newBytes, () => change.new),
      1,
      written,
    );
  }
  return sums.byAccount();
}

const moveMark = (from: Mark, { through, expires_at }: Mark): WriteStep => {
  const { table, shard, generation } = from;
  const unmoved = { through: from.through, generation, held_by: is.absent };
  return write.update(mark, { table, shard }, { set: { through, expires_at } }, { if: unmoved });
};

function addSteps(
  { table, shard, generation }: Mark,
  sums: readonly AccountSum[],
  nowMs: number,
): [string, WriteStep][] {
  const slot = String(slotOf(shard, limits.slots));
  const writtenBy = new Map<string, number>();
  const steps: [string, WriteStep][] = [];
  for (const { accountId, service, bytes, items, written } of sums) {
    const key = { account_id: accountId, table, service, generation, slot };
    const change = write.update(count, key, { add: { bytes, items } }, { upsert: true });
    if (bytes !== 0 || items !== 0) steps.push([`${service} of ${accountId}`, change]);
    if (written > 0 && accountId !== everyone)
      writtenBy.set(accountId, (writtenBy.get(accountId) ?? 0) + written);
  }
  for (const [accountId, bytes] of writtenBy)
    steps.push([`written by ${accountId}`, addWritten(accountId, `${table} ${slot}`, bytes, nowMs)]);
  return steps;
}

// Waits until the table has been counted once, and during a recount.
async function openMark(deps: MeterDeps, table: string, shard: string, signal: AbortSignal): Promise<Mark> {
  const { store, clock } = deps;
  for (;;) {
    const state = await store.get(tableState, { table }, { consistent: true });
    const stored = await store.get(mark, { table, shard }, { consistent: true });
    if (state && state.generation > 0 && !isHeld(state, stored, clock.now())) {
      const opened = stored ? await release(deps, stored) : await createMark(deps, state, shard);
      if (opened) return opened;
    }
    await clock.sleep(limits.heldMs, signal);
  }
}

const isHeld = (state: TableState, mark: Mark | undefined, nowMs: number): boolean =>
  state.holder !== undefined &&
  (state.holder_until ?? 0) > nowMs &&
  (mark === undefined || mark.held_by === state.holder);

// A recount in a process that crashed has left it held.
async function release({ store }: MeterDeps, found: Mark): Promise<Mark | undefined> {
  const { table, shard, held_by } = found;
  if (held_by === undefined) return found;
  return refusable(store.update(mark, { table, shard }, { remove: ['held_by'] }, { if: { held_by } }));
}

async function createMark(
  { store, clock }: MeterDeps,
  { table, generation }: TableState,
  shard: string,
): Promise<Mark | undefined> {
  const made: Mark = {
    table,
    shard,
    through: '',
    generation,
    expires_at: inSeconds(clock.now()) + limits.markS,
  };
  const isFree = { generation, holder: is.absent };
  return refusable(
    store
      .transact({
        made: write.put(mark, made, { ifAbsent: true }),
        unheld: write.check(tableState, { table }, { present: true, if: isFree }),
      })
      .then(() => made),
  );
}

export async function refusable<T>(writing: Promise<T>): Promise<T | undefined> {
  try {
    return await writing;
  } catch (error) {
    if (tableErrors.includes(error) && error.code === 'table.condition_failed') return undefined;
    if (failedStep(error)?.reason === 'condition_failed') return undefined;
    throw error;
  }
}
