import type { Service } from './deps.ts';
import { isHidden, type Mailbox, openMailbox } from './mailbox.ts';
import type { UserPlace } from './places.ts';
import type { ShownCounts } from './schema.ts';
import { broadcastFlags, isVisible, uncategorised } from './user-state.ts';

type Numbers = { total: number; unread: number; unseen: number };

export async function readCounts(service: Service, user: UserPlace): Promise<ShownCounts> {
  const box = await openMailbox(service, user);
  const known = service.counts.find(box, 'counts');
  if (known) return known;
  const counts = countAll(box);
  service.counts.keep(box, 'counts', counts);
  return counts;
}

// The user's own messages are counted in the state. Those to everyone are counted here, by what the user has done
// with them: such a count cannot drift.
export function countAll(box: Mailbox): ShownCounts {
  const { state, broadcasts, nowMs } = box;
  const counted = new Map<string, Numbers>();
  for (const [category, [total, unread, unseen]] of Object.entries(state.counts))
    if (!isHidden(box, category)) counted.set(category, { total, unread, unseen });
  const flagsOf = broadcastFlags(state);
  for (const one of broadcasts.inOrder) {
    if (!isVisible(state, one, nowMs)) continue;
    const { read, seen, archived, snoozed } = flagsOf(one);
    if (archived || snoozed) continue;
    const category = one.category ?? uncategorised;
    const numbers = counted.get(category) ?? { total: 0, unread: 0, unseen: 0 };
    if (numbers.total === 0) counted.set(category, numbers);
    numbers.total += 1;
    if (!read) numbers.unread += 1;
    if (!seen) numbers.unseen += 1;
  }
  const sum = { total: 0, unread: 0, unseen: 0 };
  for (const { total, unread, unseen } of counted.values()) {
    sum.total += total;
    sum.unread += unread;
    sum.unseen += unseen;
  }
  counted.delete(uncategorised);
  return { ...sum, categories: Object.fromEntries(counted) };
}

// When the counts change by themselves, in milliseconds; undefined if they do not.
export function nextChange({ state, broadcasts, nowMs }: Mailbox): number | undefined {
  const seconds = [
    ...(state.next_expiry === undefined ? [] : [state.next_expiry]),
    ...state.snoozed.map(one => Math.min(one.until, one.expiredat)),
    ...broadcasts.inOrder.map(one => one.expiredat),
  ].filter(second => second * 1000 > nowMs);
  return seconds.length === 0 ? undefined : Math.min(...seconds) * 1000;
}
