import assert from 'node:assert';
import { yieldIfBusy } from '@stak/kit';
import {
  changesAfter,
  isImported,
  type Subscription,
  slotOf,
  subscribe,
  type UnknownChange,
} from '@stak/streams';
import { failedStep, hasKeyOf, type Store, type WriteStep, write } from '@stak/table';
import type { BaseDeps, WebhookDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import {
  countCheckpoint,
  countPartitionOf,
  countStart,
  dayCount,
  type Event,
  event,
  ferryhookEvents,
  inSeconds,
  totalCount,
} from '../tables.ts';
import { dayOf } from './attempt-counts.ts';

type Deps = Pick<BaseDeps, 'store' | 'clock'> & Pick<WebhookDeps, 'usageStep'>;
type Counted = Pick<Event, 'userId' | 'sourceId' | 'receivedAt' | 'status'>;
type Numbers = Record<string, number>;
type Tally = {
  days: Map<string, { userId: string; sourceId: string; day: string; add: Numbers }>;
  totals: Map<string, { userId: string; sourceId: string; count: number; lastAt: number }>;
  usage: Map<string, number>;
};

const checkpointStep = 'checkpoint';

// Counts events by status, and the usage that accounts pay for, from the table's stream. The checkpoint is written in the
// same transaction as the counts, so each event is counted exactly once, even if a process dies. Counts are a second or
// two behind.
export function countEvents(deps: Deps): Subscription {
  const { store, clock } = deps;
  const checkpoints = new Map<string, string>(); // by shard: the last record that is counted
  let since: number | undefined;

  async function count(shard: string, changes: readonly UnknownChange[]): Promise<void> {
    since ??= (await store.get(countStart, {}, { consistent: true }))?.since ?? 0;
    const through = checkpoints.get(shard) ?? (await readCheckpoint(store, shard));
    checkpoints.set(shard, through);
    const fresh = changesAfter(changes, through);
    const tally = await tallyOf(fresh, since);
    const size = tally.days.size + tally.totals.size + tally.usage.size;
    if (size === 0) return;
    if (size > limits.countsTogether) {
      const middle = Math.ceil(fresh.length / 2);
      await count(shard, fresh.slice(0, middle));
      return count(shard, fresh.slice(middle));
    }
    const last = fresh.at(-1)!.sequence;
    const steps = await addSteps(deps, slotOf(shard, limits.counterShards), tally);
    try {
      const expiresAt = inSeconds(clock.now()) + limits.countCheckpointS;
      const checkpoint = moveCheckpoint(shard, through, last, expiresAt);
      await store.transact([[checkpointStep, checkpoint], ...steps], { pattern: 'count events' });
      checkpoints.set(shard, last);
    } catch (error) {
      checkpoints.delete(shard);
      // Another process has counted it meanwhile.
      if (failedStep(error)?.step !== checkpointStep) throw error;
      return count(shard, fresh);
    }
  }

  return subscribe({
    name: 'webhooks-counts',
    table: ferryhookEvents,
    entities: [], // as stored: the key holds nothing that is counted and not an attribute as well
    batchRecords: limits.countedRecords,
    gatherMs: limits.flushMs, // an event is mostly received and delivered within it
    attempts: Number.MAX_SAFE_INTEGER, // an unreachable store comes back
    needsConsumer: true, // events are counted by shard
    async handleBatch(changes, { shardId }) {
      assert(shardId !== undefined);
      // Most items of the table are not events, and need not be decoded.
      const own: UnknownChange[] = [];
      for (const change of changes as readonly UnknownChange[]) {
        const pause = yieldIfBusy();
        if (pause) await pause; // an await takes longer than most changes
        if (isCounted(change.kind) && hasKeyOf(event, change.keys)) own.push(change);
      }
      if (own.length > 0) await count(shardId, own);
    },
  });
}

// Earlier versions counted events as they received them, so changes from before this version are counted already. Of an
// event that is newer, every change is: its own time is exact, and that of a change may be off by a minute.
export async function beginCounting({ store, clock }: Pick<BaseDeps, 'store' | 'clock'>): Promise<void> {
  if (await store.get(countStart, {})) return;
  await store.put(countStart, { since: clock.now() }, { ifAbsent: true }).catch(async error => {
    if (!(await store.get(countStart, {}, { consistent: true }))) throw error;
  });
}

const changeTimeMs = 1000; // DynamoDB gives the time of a change in whole seconds

const isCounted = (kind: UnknownChange['kind']): boolean => kind === 'insert' || kind === 'modify';

const readCheckpoint = async (store: Store, shard: string): Promise<string> =>
  (await store.get(countCheckpoint, { shard }, { consistent: true }))?.through ?? '';

const moveCheckpoint = (shard: string, from: string, through: string, expiresAt: number): WriteStep =>
  write.put(
    countCheckpoint,
    { shard, through, expiresAt },
    from === '' ? { ifAbsent: true } : { if: { through: from } },
  );

async function tallyOf(changes: readonly UnknownChange[], since: number): Promise<Tally> {
  const tally: Tally = { days: new Map(), totals: new Map(), usage: new Map() };
  const dayEntry = (userId: string, sourceId: string, day: string): Numbers => {
    const key = `${userId} ${day} ${sourceId}`;
    const known = tally.days.get(key) ?? { userId, sourceId, day, add: {} };
    tally.days.set(key, known);
    return known.add;
  };
  for (const change of changes) {
    const pause = yieldIfBusy();
    if (pause) await pause; // an await takes longer than most changes
    const { userId, sourceId, receivedAt, status } = change.new as Counted;
    const before = (change.old as Counted | undefined)?.status;
    if (before === status) continue;
    if (before === undefined && isImported(change.new!)) continue; // its counts came with it
    if (receivedAt < since && change.at.getTime() + changeTimeMs <= since) continue;
    const add = dayEntry(userId, sourceId, dayOf(receivedAt));
    bump(add, `s_${status}`, 1);
    if (before !== undefined) {
      bump(add, `s_${before}`, -1);
      continue;
    }
    bump(add, 'received', 1);
    const total = tally.totals.get(sourceId) ?? { userId, sourceId, count: 0, lastAt: 0 };
    total.count += 1;
    total.lastAt = Math.max(total.lastAt, receivedAt);
    tally.totals.set(sourceId, total);
    tally.usage.set(userId, (tally.usage.get(userId) ?? 0) + 1);
  }
  return tally;
}

function bump(numbers: Numbers, name: string, by: number): void {
  const sum = (numbers[name] ?? 0) + by;
  if (sum === 0) delete numbers[name];
  else numbers[name] = sum;
}

async function addSteps({ clock, usageStep }: Deps, shard: number, tally: Tally) {
  const steps: [string, WriteStep][] = [];
  const expiresAt = inSeconds(clock.now()) + limits.counterDaysS;
  for (const { userId, sourceId, day, add } of tally.days.values()) {
    if (Object.keys(add).length === 0) continue;
    const key = { userId, partition: countPartitionOf(sourceId), day, sourceId, shard };
    steps.push([
      `${day} of ${sourceId}`,
      write.update(dayCount, key, { add, set: { expiresAt } }, { upsert: true }),
    ]);
  }
  for (const { userId, sourceId, count, lastAt } of tally.totals.values())
    steps.push([
      `total of ${sourceId}`,
      write.update(
        totalCount,
        { userId, partition: countPartitionOf(sourceId), ofId: sourceId, shard },
        { add: { count }, set: { lastAt } },
        { upsert: true },
      ),
    ]);
  for (const [userId, count] of tally.usage)
    steps.push([`usage of ${userId}`, await usageStep(userId, count)]);
  return steps;
}
