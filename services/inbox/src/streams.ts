import { isDeepStrictEqual } from 'node:util';
import { type Following, oncePerEvent, type Subscription, subscribe } from '@stak/streams';
import { type WriteStep, write } from '@stak/table';
import { countByCategory, headSteps, liveOf, readHead } from './broadcasts.ts';
import { type Service, secondsNow } from './deps.ts';
import { inboxErrors } from './errors.ts';
import { openMailbox } from './mailbox.ts';
import { numberTest } from './number-set.ts';
import type { Place, UserPlace } from './places.ts';
import { done, untilDone } from './race.ts';
import { writeRange } from './range-writer.ts';
import { writeReceipts } from './receipts.ts';
import { send } from './send-table.ts';
import { inboxTable, publicMessage, publicStats, userMessage, userStats } from './table.ts';
import type { UserState } from './user-state.ts';

const placeOf = ({ tenant_key, inbox_key }: Place): Place => ({ tenant_key, inbox_key });
const userOf = ({ tenant_key, inbox_key, uid }: UserPlace): UserPlace => ({ tenant_key, inbox_key, uid });

const countedTogether = 90; // sends in one transaction, of 100 steps

export const createSubscriptions = (service: Service): Subscription[] =>
  [realtime(service), expiries(service), reads(service)] as unknown as Subscription[];

// What every process hears by itself, where the store can tell it.
export const createFollowings = (service: Service): Following[] => [
  {
    subscription: realtime(service) as unknown as Subscription,
    isWanted: () => service.hub.listeners() > 0,
    wanted: service.hub.wanted,
    lookAgain: service.hub.ringAll,
  },
];

// Wakes whoever listens. What happened before this process ran is nobody's news here.
const realtime = ({ hub }: Service) =>
  subscribe({
    name: 'inbox-realtime',
    table: inboxTable,
    entities: [userStats, publicStats],
    startAt: 'LATEST',
    handle(change) {
      const item = change.new ?? change.old;
      if (change.entity === 'user stats') hub.ringUser(userOf(item));
      else hub.ringEveryone(placeOf(item));
    },
  });

// DynamoDB has removed a message. Reads have left it out since its second; now it leaves the counts as well.
// Settling is the same however often and in whatever order it is done.
const expiries = (service: Service) =>
  subscribe({
    name: 'inbox-expiries',
    table: inboxTable,
    entities: [userMessage, publicMessage],
    async handle(change) {
      if (change.kind !== 'expire') return;
      if (change.entity === 'user message') await settleUser(service, userOf(change.old));
      else await recountPublic(service, placeOf(change.old));
    },
  });

async function settleUser(service: Service, user: UserPlace): Promise<void> {
  if (await service.store.get(userStats, user, { consistent: true }))
    await openMailbox(service, user).catch(unlessMissing);
}

// An inbox that was deleted since has nothing to settle.
function unlessMissing(error: unknown): void {
  if (!inboxErrors.includes(error) || error.code !== 'inbox.not_found') throw error;
}

// Whoever is faster has counted as well, but perhaps a moment before the message expired.
const recountPublic = (service: Service, place: Place): Promise<void> =>
  untilDone<void>(service, async () => {
    const { head, broadcasts } = await readHead(service, place);
    const live = liveOf(broadcasts, secondsNow(service));
    if (!head || (isDeepStrictEqual(head.counts, countByCategory(live)) && head.published === live.length))
      return done(undefined);
    const steps = headSteps(service, place, head, {}, live);
    await service.store.transact(steps, { pattern: 'recount broadcasts' });
    return done(undefined);
  });

// How many have read what was sent. "All read" is written to the messages here, which then count one by one.
const reads = (service: Service) =>
  subscribe({
    name: 'inbox-reads',
    table: inboxTable,
    entities: [userMessage, userStats],
    async handle(change, context) {
      if (change.kind !== 'modify') return;
      const { eventId } = change;
      if (change.entity === 'user message') {
        const by = Number(change.new.readat !== null) - Number(change.old.readat !== null);
        await countReads(service, placeOf(change.new), eventId, new Map([[change.new.id, by]]), context);
      }
      if (change.entity === 'user stats') {
        const changes = await broadcastReads(service, change.old, change.new);
        await countReads(service, placeOf(change.new), eventId, changes, context);
        const known = new Set(change.old.ranges.map(range => range.version));
        const readNow = [...changes].flatMap(([id, by]) => (by > 0 ? [id] : []));
        for (const range of change.new.ranges) {
          if (range.only_seen || known.has(range.version)) continue;
          await writeReceipts(service, userOf(change.new), readNow, range.at).catch(unlessMissing);
          await writeRange(service, userOf(change.new), range).catch(unlessMissing);
        }
      }
    },
  });

async function broadcastReads(service: Service, before: UserState, after: UserState) {
  const changes = new Map<string, number>();
  if (isDeepStrictEqual(before.read_numbers, after.read_numbers)) return changes;
  const { broadcasts } = await readHead(service, after);
  const wasRead = numberTest(before.read_numbers);
  const isRead = numberTest(after.read_numbers);
  for (const { seq, id } of liveOf(broadcasts, secondsNow(service))) {
    if (seq <= after.joined) continue;
    const by = Number(isRead(seq)) - Number(wasRead(seq));
    if (by !== 0) changes.set(id, by);
  }
  return changes;
}

async function countReads(
  service: Service,
  place: Place,
  eventId: string,
  changes: ReadonlyMap<string, number>,
  context: Parameters<ReturnType<typeof oncePerEvent>>[1],
): Promise<void> {
  const { store, clock } = service;
  const all = [...changes].filter(([, by]) => by !== 0);
  for (let i = 0; i < all.length; i += countedTogether) {
    const part = all.slice(i, i + countedTogether);
    const count = oncePerEvent<{ eventId: string }>({ store, clock }, async () => {
      const steps: Record<string, WriteStep> = {};
      for (const [id, read] of part)
        if (await store.get(send, { ...place, id }, { consistent: true }))
          steps[id] = write.update(send, { ...place, id }, { add: { read } });
      return steps;
    });
    await count({ eventId: `${eventId}/${i}` }, context);
  }
}
