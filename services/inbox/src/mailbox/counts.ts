import type { Deps } from '../deps.ts';
import type { MailboxId } from '../inbox-id.ts';
import type { ShownCounts } from '../schema.ts';
import { isHidden, type Mailbox, openMailbox } from './mailbox.ts';
import { broadcastFlags, isVisible, uncategorised } from './state.ts';

type Numbers = { total: number; unread: number; unseen: number };

export async function readCounts(deps: Deps, user: MailboxId): Promise<ShownCounts> {
  const mailbox = await openMailbox(deps, user);
  const known = deps.countsCache.get(mailbox, 'counts');
  if (known) return known;
  const counts = countAll(mailbox);
  deps.countsCache.set(mailbox, 'counts', counts);
  return counts;
}

// The state holds the counts of the user's own messages. Messages to everyone are counted here, from the user's flags,
// so their count cannot drift.
export function countAll(mailbox: Mailbox): ShownCounts {
  const { state, broadcasts, nowMs } = mailbox;
  const counted = new Map<string, Numbers>();
  for (const [category, [total, unread, unseen]] of Object.entries(state.counts))
    if (!isHidden(mailbox, category)) counted.set(category, { total, unread, unseen });
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

// When the counts change without a write, in milliseconds; undefined if they do not.
export function nextChange({ state, broadcasts, nowMs }: Mailbox): number | undefined {
  const seconds = [
    ...(state.next_expiry === undefined ? [] : [state.next_expiry]),
    ...state.snoozed.map(one => Math.min(one.until, one.expiredat)),
    ...broadcasts.inOrder.map(one => one.expiredat),
  ].filter(second => second * 1000 > nowMs);
  return seconds.length === 0 ? undefined : Math.min(...seconds) * 1000;
}
