import { isDeepStrictEqual } from 'node:util';
import { runAtMost } from '@stak/kit';
import { type FollowerOptions, type Subscription, subscribe, writeOnce } from '@stak/streams';
import { done, progress, type WriteStep, write } from '@stak/table';
import { type Deps, retry, secondsNow } from './deps.ts';
import { inboxErrors } from './errors.ts';
import { type InboxId, inboxText, type MailboxId, mailboxText } from './inbox-id.ts';
import * as limits from './limits.ts';
import { openMailbox } from './mailbox/mailbox.ts';
import { writeRange } from './mailbox/mark-all.ts';
import { numberTest, type UserState } from './mailbox/state.ts';
import { countByCategory, headSteps, liveOf, readHead } from './publish/broadcasts.ts';
import { findSend, keyOfSend } from './publish/send-records.ts';
import { writeReceipts } from './sends/receipts.ts';
import { inboxTable, publicMessage, publicStats, send, userMessage, userStats } from './tables.ts';

const inboxOf = ({ tenant_key, inbox_key }: InboxId): InboxId => ({ tenant_key, inbox_key });
const userOf = ({ tenant_key, inbox_key, uid }: MailboxId): MailboxId => ({ tenant_key, inbox_key, uid });

// Wakes the event streams of this process.
export const createFollowers = ({ hub }: Deps): FollowerOptions[] => [
  {
    subscription: subscribe({
      name: 'inbox-live',
      table: inboxTable,
      entities: [userStats, publicStats],
      handle(change) {
        const item = change.new ?? change.old;
        if (change.entity === 'user stats') hub.notify(mailboxText(item));
        else hub.notify(inboxText(item));
      },
    }) as unknown as Subscription,
    hasListeners: () => hub.subscribers() > 0,
    listenerAdded: hub.subscribed,
    onMissed: hub.notifyAll,
  },
];

export const createSubscriptions = (deps: Deps): Subscription[] =>
  [expiries(deps), reads(deps)] as unknown as Subscription[];

// DynamoDB has removed expired messages. Readers have not seen them since they expired; now the counts are corrected,
// once for each mailbox. Doing this twice, or in another order, gives the same result. It gets whole pages, because
// nearly all changes are others, and need not be decoded.
const expiries = (deps: Deps) =>
  subscribe({
    name: 'inbox-expiries',
    table: inboxTable,
    entities: [userMessage, publicMessage],
    async handleBatch(changes) {
      const corrections = new Map<string, () => Promise<void>>();
      for (const change of changes) {
        if (change.kind !== 'expire') continue;
        if (change.entity === 'user message') {
          const user = userOf(change.old);
          corrections.set(mailboxText(user), () => refreshUser(deps, user));
        } else if (change.entity === 'public message') {
          const inbox = inboxOf(change.old);
          corrections.set(inboxText(inbox), () => recountPublic(deps, inbox));
        }
      }
      await runAtMost(limits.correctionsTogether, corrections.values());
    },
  });

async function refreshUser(deps: Deps, user: MailboxId): Promise<void> {
  if (await deps.store.get(userStats, user, { consistent: true }))
    await openMailbox(deps, user).catch(unlessMissing);
}

// The inbox may have been deleted since.
function unlessMissing(error: unknown): void {
  if (!inboxErrors.includes(error) || error.code !== 'inbox.not_found') throw error;
}

// Another writer may have counted already, but a moment before the message expired.
const recountPublic = (deps: Deps, inbox: InboxId): Promise<void> =>
  retry<void>(deps, async () => {
    const { head, broadcasts } = await readHead(deps, inbox);
    const live = liveOf(broadcasts, secondsNow(deps));
    if (!head || (isDeepStrictEqual(head.counts, countByCategory(live)) && head.published === live.length))
      return done(undefined);
    const steps = headSteps(deps, inbox, head, {}, live);
    await deps.store.transact(steps, { pattern: 'recount broadcasts' });
    return done(undefined);
  });

// Counts the readers of each send, a page of changes at a time: a message to everyone has one record, and as many
// readers in a second as there are users. A mark-all is written to its messages here, and each of those is counted by
// the stream in turn.
const reads = (deps: Deps) =>
  subscribe({
    name: 'inbox-reads',
    table: inboxTable,
    entities: [userMessage, userStats],
    async handleBatch(changes, { consumer }) {
      const counted: Counted[] = [];
      for (const change of changes) {
        if (change.kind !== 'modify') continue;
        if (change.entity === 'user message') {
          const by = Number(change.new.readat !== null) - Number(change.old.readat !== null);
          counted.push(...countedOf(change.eventId, inboxOf(change.new), new Map([[change.new.id, by]])));
        }
        if (change.entity === 'user stats') {
          const read = await broadcastReads(deps, change.old, change.new);
          counted.push(...countedOf(change.eventId, inboxOf(change.new), read));
        }
      }
      await countReads(deps, consumer, counted);
      for (const change of changes)
        if (change.kind === 'modify' && change.entity === 'user stats')
          await writeRanges(deps, change.old, change.new);
    },
  });

async function writeRanges(deps: Deps, before: UserState, after: UserState): Promise<void> {
  const known = new Set(before.ranges.map(range => range.version));
  const added = after.ranges.filter(range => !range.only_seen && !known.has(range.version));
  if (added.length === 0) return;
  const changes = await broadcastReads(deps, before, after);
  const readNow = [...changes].flatMap(([id, by]) => (by > 0 ? [id] : []));
  for (const range of added) {
    await writeReceipts(deps, userOf(after), readNow, range.at).catch(unlessMissing);
    await writeRange(deps, userOf(after), range).catch(unlessMissing);
  }
}

async function broadcastReads(deps: Deps, before: UserState, after: UserState) {
  const changes = new Map<string, number>();
  if (isDeepStrictEqual(before.read_numbers, after.read_numbers)) return changes;
  const { broadcasts } = await readHead(deps, after);
  const wasRead = numberTest(before.read_numbers);
  const isRead = numberTest(after.read_numbers);
  for (const { seq, id } of liveOf(broadcasts, secondsNow(deps))) {
    if (seq <= after.joined) continue;
    const by = Number(isRead(seq)) - Number(wasRead(seq));
    if (by !== 0) changes.set(id, by);
  }
  return changes;
}

// One event adds this to the readers of sends. An event with many sends is several of these.
type Counted = { eventId: string; inbox: InboxId; reads: readonly (readonly [id: string, by: number])[] };

function countedOf(eventId: string, inbox: InboxId, changes: ReadonlyMap<string, number>): Counted[] {
  const all = [...changes].filter(([, by]) => by !== 0);
  return Array.from({ length: Math.ceil(all.length / limits.readsTogether) }, (_, part) => {
    const from = part * limits.readsTogether;
    return {
      eventId: `${eventId}/${from}`,
      inbox,
      reads: all.slice(from, from + limits.readsTogether),
    };
  });
}

async function countReads(deps: Deps, consumer: string, counted: readonly Counted[]): Promise<void> {
  for (let rest = counted; rest.length > 0; ) {
    const size = countTogether(rest);
    await countGroup(deps, consumer, rest.slice(0, size));
    rest = rest.slice(size);
  }
}

// How many of them fit into one transaction: a marker each, and a step for each send.
function countTogether(counted: readonly Counted[]): number {
  const sends = new Set<string>();
  let fit = 0;
  for (const { inbox, reads } of counted) {
    for (const [id] of reads) sends.add(`${inboxText(inbox)}#${id}`);
    if (fit > 0 && fit + 1 + sends.size > limits.countedSteps) break;
    fit += 1;
  }
  return fit;
}

// Other shards of the stream count readers of the same sends, so their transactions may conflict.
async function countGroup(deps: Deps, consumer: string, group: readonly Counted[]): Promise<void> {
  let left = group;
  await retry<void>(deps, async () => {
    const sums = new Map<string, { inbox: InboxId; id: string; read: number }>();
    for (const { inbox, reads } of left)
      for (const [id, by] of reads) {
        const key = `${inboxText(inbox)}#${id}`;
        sums.set(key, { inbox, id, read: (sums.get(key)?.read ?? 0) + by });
      }
    const steps: Record<string, WriteStep> = {};
    for (const [key, { inbox, id, read }] of sums) {
      const found = read === 0 ? undefined : await findSend(deps, inbox, id);
      if (found) steps[key] = write.update(send, keyOfSend(found), { add: { read } });
    }
    // Events whose sums are zero are marked too: one of them may be repeated without the other.
    const isAnyCounted = Object.keys(steps).length > 0 || [...sums.values()].some(({ read }) => read === 0);
    if (!isAnyCounted) return done(undefined);
    const eventIds = left.map(({ eventId }) => eventId);
    const repeated = await writeOnce(deps, consumer, eventIds, steps);
    if (repeated.size === 0) return done(undefined);
    left = left.filter(({ eventId }) => !repeated.has(eventId));
    return progress;
  });
}
