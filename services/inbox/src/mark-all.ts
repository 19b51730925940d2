import type { Service } from './deps.ts';
import * as limits from './limits.ts';
import { changeMailbox, type Decision, isHidden, type Mailbox } from './mailbox.ts';
import { idBoundary } from './message-id.ts';
import type { UserPlace } from './places.ts';
import { writeRange } from './range-writer.ts';
import { messagesOfUser } from './table.ts';
import {
  addRange,
  broadcastFlags,
  type Counts,
  countMessage,
  countsOf,
  type Flags,
  flagsOf,
  isInRange,
  isVisible,
  type MarkedRange,
  markBroadcasts,
  markOf,
  type UserState,
} from './user-state.ts';

export type MarkAll = {
  as: 'read' | 'seen';
  since?: number; // in seconds: what was sent in this second or later
  as_of?: number; // what was sent in this second or earlier
  category?: string;
};

type Extent = Pick<MarkedRange, 'from' | 'before' | 'category'>;

// Marks everything that is in the inbox, within a time or a category, as one write. It is remembered as a range
// rather than written to each message; a message that arrives later is not in it, however old its id is.
export async function markAll(
  service: Service,
  user: UserPlace,
  wish: MarkAll,
): Promise<{ changed: number }> {
  if (wish.since !== undefined && wish.as_of !== undefined && wish.since > wish.as_of) return { changed: 0 };
  const extent: Extent = {
    from: wish.since === undefined ? undefined : idBoundary(wish.since * 1000),
    before: wish.as_of === undefined ? undefined : idBoundary((wish.as_of + 1) * 1000),
    category: wish.category,
  };
  for (;;) {
    const marked = await changeMailbox(service, user, `mark all ${wish.as}`, box =>
      decideAll(service, box, extent, wish.as),
    );
    if ('changed' in marked) return marked;
    await writeRange(service, user, marked.oldest);
  }
}

// Either it is marked, or there is no room for another range.
type Outcome = { changed: number } | { oldest: MarkedRange };

async function decideAll(
  service: Service,
  box: Mailbox,
  extent: Extent,
  as: MarkAll['as'],
): Promise<Decision<Outcome> | undefined> {
  const { state, broadcasts, nowMs } = box;
  const left = await countLeft(service, box, extent);
  if (!left) return undefined;
  const counts = countsAfter(state, extent, left, as);
  const numbers = broadcastsWithin(box, extent, as);
  const changed = pending(box, state.counts, as) - pending(box, counts, as) + numbers.size;
  if (sameCounts(state.counts, counts) && numbers.size === 0) return { result: { changed } };

  const at = Math.floor(nowMs / 1000);
  const range: MarkedRange = { ...extent, version: state.version + 1, at };
  if (as === 'seen') range.only_seen = true;
  const ranges = addRange(state.ranges, range);
  if (ranges.length > limits.markedRanges) return { result: { oldest: ranges[0]! } };
  const marked = markBroadcasts({ ...state, counts, ranges }, broadcasts, numbers, nowMs);
  return { result: { changed }, state: as === 'read' ? { ...marked, all_read_at: at } : marked };
}

const pending = (box: Mailbox, counts: Counts, as: MarkAll['as']): number =>
  Object.entries(counts)
    .filter(([category]) => !isHidden(box, category))
    .reduce((sum, [, [, unread, unseen]]) => sum + (as === 'read' ? unread : unseen), 0);

const sameCounts = (a: Counts, b: Counts): boolean =>
  Object.entries(a).every(([key, [, unread, unseen]]) => b[key]![1] === unread && b[key]![2] === unseen);

// What remains unread and unseen. Nothing, if there are no bounds in time; otherwise messages have to be counted:
// those after the bounds, which are few, or those within. Undefined if one of them expired meanwhile.
async function countLeft(service: Service, box: Mailbox, extent: Extent): Promise<Counts | undefined> {
  const { from, before } = extent;
  if (from === undefined && before === undefined) return {};
  const bounds = from === undefined ? { from: before } : { from, before };
  const counted = await countBetween(service, box, bounds);
  const { next_expiry, counts } = box.state;
  if (next_expiry !== undefined && next_expiry * 1000 <= service.clock.now()) return undefined;
  if (from === undefined) return counted;
  return Object.fromEntries(
    Object.entries(counts).map(([key, [, unread, unseen]]) => {
      const [, unreadWithin, unseenWithin] = countsOf(counted, key);
      return [key, [0, unread - unreadWithin, unseen - unseenWithin]];
    }),
  );
}

async function countBetween(
  { store }: Service,
  { user, state }: Mailbox,
  { from, before }: Pick<Extent, 'from' | 'before'>,
): Promise<Counts> {
  let counts: Counts = {};
  const bounds = {
    ...(from !== undefined && { from: { id: from } }),
    ...(before !== undefined && { before: { id: before } }),
  };
  for await (const { entity, item } of store.all(messagesOfUser, user, bounds)) {
    if (entity !== 'user message') continue;
    const mark = markOf(item);
    counts = countMessage(counts, mark.category, flagsOf(state, mark), 1);
  }
  return counts;
}

function countsAfter(state: UserState, { category }: Extent, left: Counts, as: MarkAll['as']): Counts {
  const isMarked = (key: string) => category === undefined || key === category;
  return Object.fromEntries(
    Object.entries(state.counts).map(([key, counts]) => {
      if (!isMarked(key)) return [key, counts];
      const [, unread, unseen] = countsOf(left, key);
      return [key, [counts[0], as === 'read' ? unread : counts[1], unseen]];
    }),
  );
}

function broadcastsWithin(box: Mailbox, extent: Extent, as: MarkAll['as']): Map<number, Flags> {
  const { state, broadcasts, nowMs } = box;
  const numbers = new Map<number, Flags>();
  const flagsBefore = broadcastFlags(state);
  for (const one of broadcasts.inOrder) {
    if (!isVisible(state, one, nowMs) || !isInRange(extent, one.id, one.category)) continue;
    const flags = flagsBefore(one);
    if (flags.archived || flags.snoozed || (as === 'read' ? flags.read : flags.seen)) continue;
    numbers.set(one.seq, { ...flags, seen: true, read: flags.read || as === 'read' });
  }
  return numbers;
}
