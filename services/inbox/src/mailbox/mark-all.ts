import { failedCondition, isConflict, type NamedStep, write } from '@stak/table';
import type { Deps } from '../deps.ts';
import type { MailboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { idBoundary } from '../message-rules.ts';
import { expiry, messagesOfUser, userMessage } from '../tables.ts';
import { changeMailbox, type Decision, isHidden, type Mailbox, openMailbox } from './mailbox.ts';
import { countedOf } from './refresh.ts';
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
  rangesOver,
  type UserMessage,
  type UserState,
} from './state.ts';

export type MarkAll = {
  as: 'read' | 'seen';
  since?: number; // in seconds: sent in this second or later
  as_of?: number; // sent in this second or earlier
  category?: string;
};

type Extent = Pick<MarkedRange, 'from' | 'before' | 'category'>;

// Marks all messages within a time or a category, in one write. The state stores a range instead of writing to each
// message. Messages that arrive later are not part of it, however old their ids.
export async function markAll(deps: Deps, user: MailboxId, wish: MarkAll): Promise<{ changed: number }> {
  if (wish.since !== undefined && wish.as_of !== undefined && wish.since > wish.as_of) return { changed: 0 };
  const extent: Extent = {
    from: wish.since === undefined ? undefined : idBoundary(wish.since * 1000),
    before: wish.as_of === undefined ? undefined : idBoundary((wish.as_of + 1) * 1000),
    category: wish.category,
  };
  for (;;) {
    const marked = await changeMailbox(deps, user, `mark all ${wish.as}`, mailbox =>
      decideAll(deps, mailbox, extent, wish.as),
    );
    if ('changed' in marked) return marked;
    await writeRange(deps, user, marked.oldest);
  }
}

// Marked, or too many ranges: the oldest has to be written to its messages first.
type Outcome = { changed: number } | { oldest: MarkedRange };

async function decideAll(
  deps: Deps,
  mailbox: Mailbox,
  extent: Extent,
  as: MarkAll['as'],
): Promise<Decision<Outcome> | undefined> {
  const { state, broadcasts, nowMs } = mailbox;
  const left = await countLeft(deps, mailbox, extent);
  if (!left) return undefined;
  const counts = countsAfter(state, extent, left, as);
  const numbers = broadcastsWithin(mailbox, extent, as);
  const changed = pending(mailbox, state.counts, as) - pending(mailbox, counts, as) + numbers.size;
  if (sameCounts(state.counts, counts) && numbers.size === 0) return { result: { changed } };

  const at = Math.floor(nowMs / 1000);
  const range: MarkedRange = { ...extent, version: state.version + 1, at };
  if (as === 'seen') range.only_seen = true;
  const ranges = addRange(state.ranges, range);
  if (ranges.length > limits.markedRanges) return { result: { oldest: ranges[0]! } };
  const marked = markBroadcasts({ ...state, counts, ranges }, broadcasts, numbers, nowMs);
  return { result: { changed }, state: as === 'read' ? { ...marked, all_read_at: at } : marked };
}

const pending = (mailbox: Mailbox, counts: Counts, as: MarkAll['as']): number =>
  Object.entries(counts)
    .filter(([category]) => !isHidden(mailbox, category))
    .reduce((sum, [, [, unread, unseen]]) => sum + (as === 'read' ? unread : unseen), 0);

const sameCounts = (a: Counts, b: Counts): boolean =>
  Object.entries(a).every(([key, [, unread, unseen]]) => b[key]![1] === unread && b[key]![2] === unseen);

// How many messages stay unread and unseen. None, if there are no bounds in time. Otherwise messages are counted: those
// after the bounds, which are few, or those within. Undefined if one expired meanwhile.
async function countLeft(deps: Deps, mailbox: Mailbox, extent: Extent): Promise<Counts | undefined> {
  const { from, before } = extent;
  if (from === undefined && before === undefined) return {};
  const bounds = from === undefined ? { from: before } : { from, before };
  const counted = await countBetween(deps, mailbox, bounds);
  const { next_expiry, counts } = mailbox.state;
  if (next_expiry !== undefined && next_expiry * 1000 <= deps.clock.now()) return undefined;
  if (from === undefined) return counted;
  return Object.fromEntries(
    Object.entries(counts).map(([key, [, unread, unseen]]) => {
      const [, unreadWithin, unseenWithin] = countsOf(counted, key);
      return [key, [0, unread - unreadWithin, unseen - unseenWithin]];
    }),
  );
}

// Messages that are read and seen, or archived, may be many, and make no difference.
async function countBetween(
  { store }: Deps,
  { user, state }: Mailbox,
  { from, before }: Pick<Extent, 'from' | 'before'>,
): Promise<Counts> {
  const found: { id: string; expiredat: number; category?: string; flags: Flags }[] = [];
  const bounds = {
    ...(from !== undefined && { from: { id: from } }),
    ...(before !== undefined && { before: { id: before } }),
  };
  for await (const { entity, item } of store.all(messagesOfUser, user, bounds)) {
    if (entity !== 'user message') continue;
    const { id, expiredat } = item;
    const mark = markOf(item);
    const flags = flagsOf(state, mark);
    if (flags.archived || flags.snoozed || (flags.read && flags.seen)) continue;
    found.push({ id, expiredat, category: mark.category, flags });
  }
  const counted = await countedOf({ store }, user, found);
  let counts: Counts = {};
  for (const { id, category, flags } of found)
    if (counted.has(id)) counts = countMessage(counts, category, flags, 1);
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

function broadcastsWithin(mailbox: Mailbox, extent: Extent, as: MarkAll['as']): Map<number, Flags> {
  const { state, broadcasts, nowMs } = mailbox;
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

// Writes a range to the messages it covers and changes, and then drops it. Nothing changes for the user: each message
// gets the flags that it already shows, on the condition that it was not marked since. So it can be done at any time,
// interrupted and repeated, and readers of `readat` see it.
export async function writeRange(deps: Deps, user: MailboxId, range: MarkedRange): Promise<void> {
  const { state } = await openMailbox(deps, user);
  if (!has(state, range)) return;
  const bounds = {
    ...(range.from !== undefined && { from: { id: range.from } }),
    ...(range.before !== undefined && { before: { id: range.before } }),
  };
  let unwritten: UserMessage[] = [];
  const writeTogether = async () => {
    const together = unwritten;
    unwritten = [];
    await Promise.all(together.map(one => writeMarks(deps, user, state, one, range)));
  };
  for await (const { entity, item } of deps.store.all(messagesOfUser, user, bounds)) {
    if (entity !== 'user message' || !marksOf(state, item, range)) continue;
    unwritten.push(item);
    if (unwritten.length === limits.rangeWrites) await writeTogether();
  }
  await writeTogether();
  // The mailbox is up to date: what expired in the meantime was taken out of the counts with the range in place.
  await changeMailbox(deps, user, 'drop a range', async mailbox => ({
    result: undefined,
    state: { ...mailbox.state, ranges: mailbox.state.ranges.filter(one => one.version !== range.version) },
  }));
}

const has = (state: UserState, range: MarkedRange): boolean =>
  state.ranges.some(one => one.version === range.version);

async function writeMarks(
  { store }: Deps,
  user: MailboxId,
  state: UserState,
  found: UserMessage,
  range: MarkedRange,
): Promise<void> {
  for (let message: UserMessage | undefined = found; message; ) {
    const marks = marksOf(state, message, range);
    if (!marks) return;
    try {
      return await store.transact(markSteps(user, message, marks), { pattern: 'write a range' });
    } catch (error) {
      if (!isConflict(error)) throw error;
      // Without its expiry it is no longer counted: it has expired by another clock, or was redacted.
      if (failedCondition(error, 'expiry')) return;
      message = await store.get(userMessage, { ...user, id: message.id }, { consistent: true });
    }
  }
}

type Marks = Pick<UserMessage, 'touched' | 'readat' | 'seenat'>;

// Applies the range, and those before it, to a message. Later ones still apply afterwards. Most messages of a
// mailbox have been read, and need no write.
function marksOf(state: UserState, message: UserMessage, range: MarkedRange): Marks | undefined {
  const over = rangesOver(state, markOf(message)).filter(one => one.version <= range.version);
  const last = over.at(-1);
  if (last?.version !== range.version) return undefined;
  const readat = message.readat ?? over.find(one => !one.only_seen)?.at ?? null;
  const seenat = message.seenat ?? last.at;
  const isSame = readat === message.readat && seenat === message.seenat;
  return isSame ? undefined : { touched: last.version, readat, seenat };
}

function markSteps(user: MailboxId, message: UserMessage, set: Marks): NamedStep[] {
  const { id, expiredat, touched: before } = message;
  const marks = { touched: set.touched, read: set.readat !== null, seen: true };
  return [
    ['message', write.update(userMessage, { ...user, id }, { set }, { if: { touched: before } })],
    ['expiry', write.update(expiry, { ...user, id, expires: expiredat }, { set: marks })],
  ];
}
