import { type NamedStep, write } from '@stak/table';
import { type Deps, secondsNow } from '../deps.ts';
import { categoryBeingDeleted, inboxErrors, inboxNotFound } from '../errors.ts';
import type { InboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import type { Broadcast, Broadcasts, Head } from '../mailbox/broadcast-list.ts';
import { broadcast, publicCategories, publicCategoryStats, publicMessage, publicStats } from '../tables.ts';
import { ownNumber } from './categories.ts';
import { countMembers, type SendContent } from './send-records.ts';

// A message to everyone: its text, an entry in the list of broadcasts, and the head of that list. The same writes for
// ten users as for millions.
export async function broadcastSteps(
  deps: Deps,
  content: SendContent,
): Promise<{ sent: { seq: number; members: number }; steps: NamedStep[] }> {
  const { tenant_key, inbox_key, id, taxonomy, expiredat, message } = content;
  const inbox = { tenant_key, inbox_key };
  const { head, broadcasts } = await readHead(deps, inbox);
  if (head?.erasing) throw inboxNotFound();
  const live = liveOf(broadcasts, secondsNow(deps));
  if (live.length >= limits.liveBroadcasts)
    throw inboxErrors.create(
      'inbox.too_many_broadcasts',
      `An inbox can have at most ${limits.liveBroadcasts} messages to everyone at a time. Redact some, delete a category, or let them expire sooner.`,
    );
  const category = taxonomy?.category;
  if (category !== undefined && head?.deleting?.includes(category)) throw categoryBeingDeleted();
  const seq = (head?.seq ?? 0) + 1;
  const { host_system_id, sender, cause, received, audiences } = content;
  const text = {
    ...{ ...inbox, id, host_system_id, sender, cause, received, expiredat, taxonomy, message, seq },
    audiences: { kind: 'everyone' as const, label: audiences.label },
    delivered: secondsNow(deps),
  };
  const line = { ...inbox, seq, id, category, expiredat };
  return {
    sent: { seq, members: await countMembers(deps, inbox) },
    steps: [
      ['text', write.put(publicMessage, text, { ifAbsent: true })],
      ['line', write.put(broadcast, line, { ifAbsent: true })],
      ...headSteps(deps, inbox, head, { seq }, [...live, { seq, id, category, expiredat }]),
    ],
  };
}

// Deletes the text, and adds an entry that makes readers of the list drop the message.
export async function withdrawalSteps(
  deps: Deps,
  inbox: InboxId,
  id: string,
): Promise<NamedStep[] | undefined> {
  const { head, broadcasts } = await readHead(deps, inbox);
  const found = (await deps.broadcasts.all(inbox, head)).byId.get(id);
  if (!head || !found) return undefined;
  const { category, expiredat } = found;
  const live = liveOf(broadcasts, secondsNow(deps)).filter(one => one.id !== id);
  const seq = head.seq + 1;
  const line = { ...inbox, seq, id, category, expiredat, redacts: found.seq };
  return [
    ['text', write.delete(publicMessage, { ...inbox, id })],
    ['line', write.put(broadcast, line, { ifAbsent: true })],
    ...headSteps(deps, inbox, head, { seq }, live),
  ];
}

export async function readHead(deps: Deps, inbox: InboxId): Promise<{ head: Head; broadcasts: Broadcasts }> {
  const { tenant_key, inbox_key } = inbox;
  const key = { tenant_key, inbox_key };
  const head = await deps.headOf(key);
  const broadcasts = await deps.broadcasts.upTo(key, head);
  return { head: head && { ...head, counts: head.counts ?? (await storedCounts(deps, key)) }, broadcasts };
}

// Older heads have no counts; the stats of their categories do.
async function storedCounts({ store }: Deps, inbox: InboxId): Promise<Record<string, number>> {
  const counts: [string, number][] = [];
  for await (const { category, published } of store.all(publicCategories, inbox))
    if (published > 0) counts.push([category, published]);
  return Object.fromEntries(counts);
}

export const liveOf = ({ inOrder }: Broadcasts, nowS: number): Broadcast[] =>
  inOrder.filter(one => one.expiredat > nowS);

export function countByCategory(live: readonly Broadcast[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { category } of live)
    if (category !== undefined) counts.set(category, (counts.get(category) ?? 0) + 1);
  return Object.fromEntries(counts);
}

// The head, and the stats of every category whose count differs: also where a message has expired since the head was
// last written.
export function headSteps(
  { ids }: Pick<Deps, 'ids'>,
  inbox: InboxId,
  head: Head,
  change: { seq?: number; redacting?: string[]; deleting?: string[]; erasing?: true },
  live: readonly Broadcast[],
): NamedStep[] {
  const before = head ?? { ...inbox, published: 0, list: ids.next(), seq: 0, redacting: [] };
  const counts = countByCategory(live);
  const after = { ...before, ...change, published: live.length, counts };
  const guard = head ? { ifVersion: head.version } : { ifAbsent: true };
  const steps: NamedStep[] = [['head', write.put(publicStats, after, guard)]];
  const countsBefore = head?.counts ?? {};
  for (const category of new Set([...Object.keys(countsBefore), ...Object.keys(counts)])) {
    const published = ownNumber(counts, category);
    if (published === ownNumber(countsBefore, category)) continue;
    const stats = { ...inbox, category, published };
    steps.push([
      `stats of ${category}`,
      published > 0 ? write.put(publicCategoryStats, stats) : write.delete(publicCategoryStats, stats),
    ]);
  }
  return steps;
}
