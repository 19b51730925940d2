import type { Service } from './deps.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import type { UserPlace } from './places.ts';
import type { ShownCounts } from './schema.ts';
import { broadcastFlags, type Counts, countMessage, isVisible, uncategorised } from './user-state.ts';

export const readCounts = async (service: Service, user: UserPlace): Promise<ShownCounts> =>
  countAll(await openMailbox(service, user));

// The user's own messages are counted in the state. Those to everyone are counted here, by what the user has done
// with them: such a count cannot drift.
export function countAll({ state, broadcasts, nowMs }: Mailbox): ShownCounts {
  let { counts } = state;
  for (const one of broadcasts.inOrder)
    if (isVisible(state, one, nowMs))
      counts = countMessage(counts, one.category, broadcastFlags(state, one), 1);
  return showCounts(counts);
}

function showCounts(counts: Counts): ShownCounts {
  const sum = { total: 0, unread: 0, unseen: 0 };
  const categories: ShownCounts['categories'] = {};
  for (const [category, [total, unread, unseen]] of Object.entries(counts)) {
    sum.total += total;
    sum.unread += unread;
    sum.unseen += unseen;
    if (category !== uncategorised) categories[category] = { total, unread, unseen };
  }
  return { ...sum, categories };
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
