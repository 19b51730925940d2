import assert from 'node:assert';
import { isAfter, type Subscription, slotOf, subscribe, type UnknownChange } from '@stak/streams';
import { failedStep, hasKeyOf, type Store, type WriteStep, write } from '@stak/table';
import { countMark, countStart, dayCount, totalCount } from './counter-table.ts';
import { dayOf } from './counters.ts';
import { type Base, inSeconds, type WebhookDeps } from './deps.ts';
import { type Event, event, ferryhookEvents } from './events-table.ts';
import * as limits from './limits.ts';

type Deps = Pick<Base, 'store' | 'clock'> & Pick<WebhookDeps, 'usageStep'>;
type Counted = Pick<Event, 'userId' | 'sourceId' | 'receivedAt' | 'status'>;
type Numbers = Record<string, number>;
type Tally = {
  days: Map<string, { userId: string; sourceId: string; day: string; add: Numbers }>;
  totals: Map<string, { userId: string; sourceId: string; count: number; lastAt: number }>;
  usage: Map<string, number>;
};

const markStep = 'mark';

// Events, what became of them, and the usage that accounts pay for, counted from the table's stream. How far it is
// counted is written in the same transaction as the counts, so each event counts once, whatever dies when; a count is a
// second or two behind.
export function countEvents(deps: Deps): Subscription {
  const { store, clock } = deps;
  const marks = new Map<string, string>(); // by shard: through which record it is counted
  let since: number | undefined;

  async function count(shard: string, changes: readonly UnknownChange[]): Promise<void> {
    since ??= (await store.get(countStart, {}, { consistent: true }))?.since ?? 0;
    const through = marks.get(shard) ?? (await readMark(store, shard));
    marks.set(shard, through);
    const fresh = changes.filter(({ sequence }) => isAfter(sequence, through));
    const tally = tallyOf(fresh, since);
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
      const mark = moveMark(shard, through, last, inSeconds(clock.now()) + limits.countMarkS);
      await store.transact([[markStep, mark], ...steps], { pattern: 'count events' });
      marks.set(shard, last);
    } catch (error) {
      marks.delete(shard);
      // Another process has counted it meanwhile.
      if (failedStep(error)?.step !== markStep) throw error;
      return count(shard, fresh);
    }
  }

  return subscribe({
    name: 'webhooks-counts',
    table: ferryhookEvents,
    entities: [], // as they are stored: nothing of an event that is counted is in its key alone
    batchRecords: limits.countedRecords,
    attempts: Number.MAX_SAFE_INTEGER, // a store that is away comes back
    async handleBatch(changes, { shardId, signal }) {
      assert(shardId !== undefined, 'events are counted by shard: run it as a consumer, not in Lambda');
      // Most of the table is of no interest here, and need not be decoded.
      const own = (changes as readonly UnknownChange[]).filter(
        one => isCounted(one.kind) && hasKeyOf(event, one.keys),
      );
      if (own.length > 0) await count(shardId, own);
      // What changes meanwhile becomes one page.
      if (changes.length < limits.countedRecords) await clock.sleep(limits.flushMs, signal).catch(() => {});
    },
  });
}

// Earlier versions counted as they went: what was received before this one began is counted already.
export async function beginCounting({ store, clock }: Pick<Base, 'store' | 'clock'>): Promise<void> {
  if (await store.get(countStart, {})) return;
  await store.put(countStart, { since: clock.now() }, { ifAbsent: true }).catch(async error => {
    if (!(await store.get(countStart, {}, { consistent: true }))) throw error;
  });
}

const isCounted = (kind: UnknownChange['kind']): boolean => kind === 'insert' || kind === 'modify';

const readMark = async (store: Store, shard: string): Promise<string> =>
  (await store.get(countMark, { shard }, { consistent: true }))?.through ?? '';

const moveMark = (shard: string, from: string, through: string, expiresAt: number): WriteStep =>
  write.put(
    countMark,
    { shard, through, expiresAt },
    from === '' ? { ifAbsent: true } : { if: { through: from } },
  );

function tallyOf(changes: readonly UnknownChange[], since: number): Tally {
  const tally: Tally = { days: new Map(), totals: new Map(), usage: new Map() };
  const dayEntry = (userId: string, sourceId: string, day: string): Numbers => {
    const key = `${userId} ${day} ${sourceId}`;
    const known = tally.days.get(key) ?? { userId, sourceId, day, add: {} };
    tally.days.set(key, known);
    return known.add;
  };
  for (const change of changes) {
    const { userId, sourceId, receivedAt, status } = change.new as Counted;
    const before = (change.old as Counted | undefined)?.status;
    if (before === status) continue;
    if (change.at.getTime() + 1000 <= since) continue; // the time of a change is known to the second
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
    const key = { userId, day, sourceId, shard };
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
        { userId, ofId: sourceId, shard },
        { add: { count }, set: { lastAt } },
        { upsert: true },
      ),
    ]);
  for (const [userId, count] of tally.usage)
    steps.push([`usage of ${userId}`, await usageStep(userId, count)]);
  return steps;
}
