import { write } from '@stak/table';
import type { Broadcast, Broadcasts, Head } from './broadcast-list.ts';
import { type Service, secondsNow } from './deps.ts';
import { inboxErrors } from './errors.ts';
import * as limits from './limits.ts';
import type { Step } from './mailbox.ts';
import type { Place } from './places.ts';
import type { SendContent } from './sends.ts';
import { broadcast, publicCategoryStats, publicMessage, publicStats } from './table.ts';

// A message to everyone: one text, one line in the list, and the head. The same for ten users as for millions.
export async function broadcastSteps(
  service: Service,
  content: SendContent,
): Promise<{ seq: number; steps: Step[] }> {
  const { tenant_key, inbox_key, id, taxonomy, expiredat, message } = content;
  const place = { tenant_key, inbox_key };
  const { head, broadcasts } = await readHead(service, place);
  const live = liveOf(broadcasts, secondsNow(service));
  if (live.length >= limits.liveBroadcasts)
    throw inboxErrors.create(
      'inbox.too_many_broadcasts',
      `An inbox has at most ${limits.liveBroadcasts} live messages to everyone. Let them expire sooner.`,
    );
  const category = taxonomy?.category;
  const seq = (head?.seq ?? 0) + 1;
  const { host_system_id, sender, received, audiences } = content;
  const text = {
    ...{ ...place, id, host_system_id, sender, received, expiredat, taxonomy, message, seq },
    audiences: { kind: 'everyone' as const, label: audiences.label },
    delivered: secondsNow(service),
  };
  const line = { ...place, seq, id, category, expiredat };
  return {
    seq,
    steps: [
      ['text', write.put(publicMessage, text, { ifAbsent: true })],
      ['line', write.put(broadcast, line, { ifAbsent: true })],
      ...headSteps(service, place, head, { seq }, [...live, { seq, id, category, expiredat }], category),
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
  const found = broadcasts.byId.get(id);
  if (!head || !found) return undefined;
  const { category, expiredat } = found;
  const live = liveOf(broadcasts, secondsNow(service)).filter(one => one.id !== id);
  const seq = head.seq + 1;
  const line = { ...place, seq, id, category, expiredat, redacts: found.seq };
  return [
    ['text', write.delete(publicMessage, { ...place, id })],
    ['line', write.put(broadcast, line, { ifAbsent: true })],
    ...headSteps(service, place, head, { seq }, live, category),
  ];
}

export async function readHead(
  service: Service,
  place: Place,
): Promise<{ head: Head; broadcasts: Broadcasts }> {
  const { tenant_key, inbox_key } = place;
  const key = { tenant_key, inbox_key };
  const head = await service.store.get(publicStats, key, { consistent: true });
  return { head, broadcasts: await service.broadcasts.upTo(key, head) };
}

export const liveOf = ({ inOrder }: Broadcasts, nowS: number): Broadcast[] =>
  inOrder.filter(one => one.expiredat > nowS);

// The head, and the document's stats of the category that changed.
export function headSteps(
  { ids }: Pick<Service, 'ids'>,
  place: Place,
  head: Head,
  change: { seq?: number; redacting?: string[] },
  live: readonly Broadcast[],
  category?: string,
): Step[] {
  const before = head ?? { ...place, published: 0, list: ids.next(), seq: 0, redacting: [] };
  const after = { ...before, ...change, published: live.length };
  const guard = head ? { ifVersion: head.version } : { ifAbsent: true };
  const steps: Step[] = [['head', write.put(publicStats, after, guard)]];
  if (category !== undefined) {
    const published = live.filter(one => one.category === category).length;
    steps.push(['category', write.put(publicCategoryStats, { ...place, category, published })]);
  }
  return steps;
}
