import { write } from '@stak/table';
import type { Broadcast, Broadcasts, Head } from './broadcast-list.ts';
import { type Service, secondsNow } from './deps.ts';
import { categoryGoes, inboxErrors, noInbox } from './errors.ts';
import * as limits from './limits.ts';
import type { Step } from './mailbox.ts';
import type { Place } from './places.ts';
import { countMembers, type SendContent } from './sends.ts';
import { broadcast, publicCategories, publicCategoryStats, publicMessage, publicStats } from './table.ts';

// A message to everyone: one text, one line in the list, and the head. The same for ten users as for millions.
export async function broadcastSteps(
  service: Service,
  content: SendContent,
): Promise<{ sent: { seq: number; members: number }; steps: Step[] }> {
  const { tenant_key, inbox_key, id, taxonomy, expiredat, message } = content;
  const place = { tenant_key, inbox_key };
  const { head, broadcasts } = await readHead(service, place);
  if (head?.erasing) throw noInbox();
  const live = liveOf(broadcasts, secondsNow(service));
  if (live.length >= limits.liveBroadcasts)
    throw inboxErrors.create(
      'inbox.too_many_broadcasts',
      `An inbox has at most ${limits.liveBroadcasts} live messages to everyone. Redact some, delete a category, or let them expire sooner.`,
    );
  const category = taxonomy?.category;
  if (category !== undefined && head?.deleting?.includes(category)) throw categoryGoes();
  const seq = (head?.seq ?? 0) + 1;
  const { host_system_id, sender, received, audiences } = content;
  const text = {
    ...{ ...place, id, host_system_id, sender, received, expiredat, taxonomy, message, seq },
    audiences: { kind: 'everyone' as const, label: audiences.label },
    delivered: secondsNow(service),
  };
  const line = { ...place, seq, id, category, expiredat };
  return {
    sent: { seq, members: await countMembers(service, place) },
    steps: [
      ['text', write.put(publicMessage, text, { ifAbsent: true })],
      ['line', write.put(broadcast, line, { ifAbsent: true })],
      ...headSteps(service, place, head, { seq }, [...live, { seq, id, category, expiredat }]),
    ],
  };
}

// Whoever looks at the list finds a line that says it is gone; the text is gone as well.
export async function withdrawalSteps(
  service: Service,
  place: Place,
  id: string,
): Promise<Step[] | undefined> {
  const { head, broadcasts } = await readHead(service, place);
  const found = (await service.broadcasts.all(place, head)).byId.get(id);
  if (!head || !found) return undefined;
  const { category, expiredat } = found;
  const live = liveOf(broadcasts, secondsNow(service)).filter(one => one.id !== id);
  const seq = head.seq + 1;
  const line = { ...place, seq, id, category, expiredat, redacts: found.seq };
  return [
    ['text', write.delete(publicMessage, { ...place, id })],
    ['line', write.put(broadcast, line, { ifAbsent: true })],
    ...headSteps(service, place, head, { seq }, live),
  ];
}

export async function readHead(
  service: Service,
  place: Place,
): Promise<{ head: Head; broadcasts: Broadcasts }> {
  const { tenant_key, inbox_key } = place;
  const key = { tenant_key, inbox_key };
  const head = await service.store.get(publicStats, key, { consistent: true });
  const broadcasts = await service.broadcasts.upTo(key, head);
  return { head: head && { ...head, counts: head.counts ?? (await storedCounts(service, key)) }, broadcasts };
}

// A head that was written without counts: its category stats say what they are.
async function storedCounts({ store }: Service, place: Place): Promise<Record<string, number>> {
  const counts: [string, number][] = [];
  for await (const { category, published } of store.all(publicCategories, place))
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

// The head, and the stats of every category whose number is another one now: also of those in which something has
// expired since the head was written. So whoever writes the head has counted everything.
export function headSteps(
  { ids }: Pick<Service, 'ids'>,
  place: Place,
  head: Head,
  change: { seq?: number; redacting?: string[]; deleting?: string[]; erasing?: true },
  live: readonly Broadcast[],
): Step[] {
  const before = head ?? { ...place, published: 0, list: ids.next(), seq: 0, redacting: [] };
  const counts = countByCategory(live);
  const after = { ...before, ...change, published: live.length, counts };
  const guard = head ? { ifVersion: head.version } : { ifAbsent: true };
  const steps: Step[] = [['head', write.put(publicStats, after, guard)]];
  const countsBefore = head?.counts ?? {};
  for (const category of new Set([...Object.keys(countsBefore), ...Object.keys(counts)])) {
    const published = ownNumber(counts, category);
    if (published === ownNumber(countsBefore, category)) continue;
    const stats = { ...place, category, published };
    steps.push([
      `stats of ${category}`,
      published > 0 ? write.put(publicCategoryStats, stats) : write.delete(publicCategoryStats, stats),
    ]);
  }
  return steps;
}

// A category may be called `constructor`, too.
export const ownNumber = (counts: Readonly<Record<string, number>>, category: string): number =>
  Object.hasOwn(counts, category) ? counts[category]! : 0;
