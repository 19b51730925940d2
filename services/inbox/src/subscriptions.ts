import { isDeepStrictEqual } from 'node:util';
import { type Following, oncePerEvent, type Subscription, subscribe } from '@stak/streams';
import { done, type WriteStep, write } from '@stak/table';
import { type Deps, retry, secondsNow } from './deps.ts';
import { inboxErrors } from './errors.ts';
import { type InboxId, inboxText, type MailboxId, mailboxText } from './inbox-id.ts';
import { openMailbox } from './mailbox/mailbox.ts';
import { writeRange } from './mailbox/mark-all.ts';
import { numberTest, type UserState } from './mailbox/state.ts';
import { countByCategory, headSteps, liveOf, readHead } from './publish/broadcasts.ts';
import { writeReceipts } from './sends/receipts.ts';
import { inboxTable, publicMessage, publicStats, send, userMessage, userStats } from './tables.ts';

const inboxOf = ({ tenant_key, inbox_key }: InboxId): InboxId => ({ tenant_key, inbox_key });
const userOf = ({ tenant_key, inbox_key, uid }: MailboxId): MailboxId => ({ tenant_key, inbox_key, uid });

const countedTogether = 90; // sends in one transaction, which has 100 steps at most

export const createSubscriptions = (deps: Deps): Subscription[] =>
  [realtime(deps), expiries(deps), reads(deps)] as unknown as Subscription[];

// Runs in every process, where the store can tell it about changes, so that event streams are woken at once.
export const createFollowings = (deps: Deps): Following[] => [
  {
    subscription: realtime(deps) as unknown as Subscription,
    isWanted: () => deps.hub.subscribers() > 0,
    wanted: deps.hub.subscribed,
    lookAgain: deps.hub.notifyAll,
  },
];

// Wakes event streams. Changes from before this process started do not matter to it.
const realtime = ({ hub }: Deps) =>
  subscribe({
    name: 'inbox-realtime',
    table: inboxTable,
    entities: [userStats, publicStats],
    startAt: 'LATEST',
    handle(change) {
      const item = change.new ?? change.old;
      if (change.entity === 'user stats') hub.notify(mailboxText(item));
      else hub.notify(inboxText(item));
    },
  });

// DynamoDB has removed an expired message. Readers have not seen it since it expired; now the counts are corrected.
// Doing this twice, or in another order, gives the same result.
const expiries = (deps: Deps) =>
  subscribe({
    name: 'inbox-expiries',
    table: inboxTable,
    entities: [userMessage, publicMessage],
    async handle(change) {
      if (change.kind !== 'expire') return;
      if (change.entity === 'user message') await refreshUser(deps, userOf(change.old));
      else await recountPublic(deps, inboxOf(change.old));
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

// Counts the readers of each send. A mark-all is written to its messages here, and each of those is counted by the
// stream in turn.
const reads = (deps: Deps) =>
  subscribe({
    name: 'inbox-reads',
    table: inboxTable,
    entities: [userMessage, userStats],
    async handle(change, context) {
      if (change.kind !== 'modify') return;
      const { eventId } = change;
      if (change.entity === 'user message') {
        const by = Number(change.new.readat !== null) - Number(change.old.readat !== null);
        await countReads(deps, inboxOf(change.new), eventId, new Map([[change.new.id, by]]), context);
      }
      if (change.entity === 'user stats') {
        const changes = await broadcastReads(deps, change.old, change.new);
        await countReads(deps, inboxOf(change.new), eventId, changes, context);
        const known = new Set(change.old.ranges.map(range => range.version));
        const readNow = [...changes].flatMap(([id, by]) => (by > 0 ? [id] : []));
        for (const range of change.new.ranges) {
          if (range.only_seen || known.has(range.version)) continue;
          await writeReceipts(deps, userOf(change.new), readNow, range.at).catch(unlessMissing);
          await writeRange(deps, userOf(change.new), range).catch(unlessMissing);
        }
      }
    },
  });

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

async function countReads(
  deps: Deps,
  inbox: InboxId,
  eventId: string,
  changes: ReadonlyMap<string, number>,
  context: Parameters<ReturnType<typeof oncePerEvent>>[1],
): Promise<void> {
  const { store, clock } = deps;
  const all = [...changes].filter(([, by]) => by !== 0);
  for (let i = 0; i < all.length; i += countedTogether) {
    const part = all.slice(i, i + countedTogether);
    const count = oncePerEvent<{ eventId: string }>({ store, clock }, async () => {
      const steps: Record<string, WriteStep> = {};
      for (const [id, read] of part)
        if (await store.get(send, { ...inbox, id }, { consistent: true }))
          steps[id] = write.update(send, { ...inbox, id }, { add: { read } });
      return steps;
    });
    await count({ eventId: `${eventId}/${i}` }, context);
  }
}
