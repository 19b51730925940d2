import { type InputOf, type ItemOf, type NamedStep, write } from '@stak/table';
import type { MailboxId } from '../inbox-id.ts';
import { categoryStats, type expiry, type userMessage, userStats } from '../tables.ts';
import type { Broadcast, Broadcasts } from './broadcast-list.ts';

// Reads and changes the state of a mailbox. Nothing here touches the store.

export type UserState = ItemOf<typeof userStats>;
export type UserStateInput = InputOf<typeof userStats>;
export type UserMessage = ItemOf<typeof userMessage>;
export type MarkedRange = UserState['ranges'][number];
export type Snooze = UserState['snoozed'][number];
export type Counts = UserState['counts'];

export type Flags = { read: boolean; seen: boolean; archived: boolean; snoozed: boolean };

// The flags of one of the user's own messages as they were last written: in the message, or in its expiry, which
// outlives it.
export type OwnMark = {
  id: string;
  category?: string;
  touched: number;
  read: boolean;
  seen: boolean;
  archived: boolean;
};

export const uncategorised = '*'; // not a valid name of a category

export const emptyState = (user: MailboxId, joined: number, born?: string): UserStateInput => ({
  ...user,
  ...(born !== undefined && { born }),
  published: 0,
  read: 0,
  counts: {},
  added: 0,
  withdrawn: 0,
  withdrawn_ids: [],
  ranges: [],
  snoozed: [],
  joined,
  read_numbers: { to: joined, also: [] },
  seen_numbers: { to: joined, also: [] },
  archived_numbers: [],
});

export const markOf = (message: UserMessage): OwnMark => ({
  id: message.id,
  category: message.taxonomy?.category,
  touched: message.touched,
  read: message.readat !== null,
  seen: message.seenat !== null,
  archived: message.archivedat !== null,
});

export const markOfExpiry = (item: ItemOf<typeof expiry>): OwnMark => item;

export const isInRange = (
  range: Omit<MarkedRange, 'version' | 'at'>,
  id: string,
  category?: string,
): boolean =>
  (range.from === undefined || id >= range.from) &&
  (range.before === undefined || id < range.before) &&
  (range.category === undefined || range.category === category);

// The ranges that cover a message and are newer than its own flags. Archived and snoozed messages are not in a range.
export const rangesOver = (state: UserState, mark: OwnMark): MarkedRange[] =>
  mark.archived || isSnoozed(state, mark.id)
    ? []
    : state.ranges.filter(range => range.version > mark.touched && isInRange(range, mark.id, mark.category));

// When a message was read, by itself or with a range.
export const readAt = (state: UserState, message: UserMessage): number | undefined =>
  message.readat ?? rangesOver(state, markOf(message)).find(range => !range.only_seen)?.at;

export function flagsOf(state: UserState, mark: OwnMark): Flags {
  const over = rangesOver(state, mark);
  const read = mark.read || over.some(range => !range.only_seen);
  return {
    read,
    seen: read || mark.seen || over.length > 0,
    archived: mark.archived,
    snoozed: isSnoozed(state, mark.id),
  };
}

export const isOver = (second: number, nowMs: number): boolean => second * 1000 <= nowMs;

// Whether a message has expired, or a snoozed one is due, so that the counts are out of date.
export const isStale = (state: UserState, nowMs: number): boolean =>
  hasExpired(state, nowMs) || state.snoozed.some(one => isOver(Math.min(one.until, one.expiredat), nowMs));

export const hasExpired = (state: UserState, nowMs: number): boolean =>
  state.next_expiry !== undefined && isOver(state.next_expiry, nowMs);

const isSnoozed = (state: UserState, id: string): boolean => state.snoozed.some(one => one.id === id);

// Returns a function, because it is called for up to a thousand messages, and building the sets takes most of the time.
export function broadcastFlags(state: UserState): (one: Broadcast) => Flags {
  const isRead = numberTest(state.read_numbers);
  const isSeen = numberTest(state.seen_numbers);
  const archived = new Set(state.archived_numbers);
  const snoozed = new Set(state.snoozed.map(one => one.id));
  return ({ seq, id }) => ({
    read: isRead(seq),
    seen: isSeen(seq),
    archived: archived.has(seq),
    snoozed: snoozed.has(id),
  });
}

// The highest broadcast number that the state mentions.
export const lastNumber = ({ read_numbers, seen_numbers, archived_numbers }: UserState): number =>
  Math.max(
    ...[read_numbers.to, seen_numbers.to],
    ...[read_numbers.also.at(-1) ?? 0, seen_numbers.also.at(-1) ?? 0, archived_numbers.at(-1) ?? 0],
  );

export const isVisible = (state: UserState, one: Broadcast, nowMs: number): boolean =>
  one.seq > state.joined && one.expiredat * 1000 > nowMs;

type Numbers = readonly [all: number, unread: number, unseen: number];
const zero: Numbers = [0, 0, 0];

// A category can be called `constructor`.
export const countsOf = (counts: Counts | undefined, category: string): Numbers =>
  counts && Object.hasOwn(counts, category) ? counts[category]! : zero;

// Archived and snoozed messages are not counted.
export function countMessage(counts: Counts, category: string | undefined, flags: Flags, by: 1 | -1): Counts {
  if (flags.archived || flags.snoozed) return counts;
  const key = category ?? uncategorised;
  const [all, unread, unseen] = countsOf(counts, key);
  const changed: [number, number, number] = [
    all + by,
    unread + (flags.read ? 0 : by),
    unseen + (flags.seen ? 0 : by),
  ];
  const { [key]: _, ...others } = counts;
  return changed.every(count => count === 0) ? others : { ...others, [key]: changed };
}

function totalsOf(counts: Counts): { published: number; read: number } {
  let published = 0;
  let read = 0;
  for (const [all, unread] of Object.values(counts)) {
    published += all;
    read += all - unread;
  }
  return { published, read };
}

// Sets the flags of some messages to everyone, and drops those of messages that are gone.
export function markBroadcasts(
  state: UserState,
  broadcasts: Broadcasts,
  flags: ReadonlyMap<number, Flags>,
  nowMs: number,
): UserState {
  const live = broadcasts.inOrder.filter(one => isVisible(state, one, nowMs));
  const read = new Set<number>();
  const seen = new Set<number>();
  const archived: number[] = [];
  const flagsBefore = broadcastFlags(state);
  for (const one of live) {
    const now = flags.get(one.seq) ?? flagsBefore(one);
    if (now.read) read.add(one.seq);
    if (now.seen) seen.add(one.seq);
    if (now.archived) archived.push(one.seq);
  }
  const numbers = live.map(one => one.seq);
  return {
    ...state,
    read_numbers: numberSet(numbers, read, broadcasts.seq),
    seen_numbers: numberSet(numbers, seen, broadcasts.seq),
    archived_numbers: archived,
  };
}

// Adds a range, and drops older ones that it covers completely.
export function addRange(ranges: readonly MarkedRange[], added: MarkedRange): MarkedRange[] {
  const isOver = (old: MarkedRange) =>
    (!added.only_seen || old.only_seen) &&
    (added.category === undefined || added.category === old.category) &&
    (added.from === undefined || (old.from !== undefined && added.from <= old.from)) &&
    (added.before === undefined || (old.before !== undefined && added.before >= old.before));
  return [...ranges.filter(old => !isOver(old)), added];
}

// The numbers of the broadcasts that a user has read or seen: all up to `to`, and some after it. Users read more or
// less in order, so the list stays short.
export type NumberSet = { to: number; also: number[] };

export function numberTest({ to, also }: NumberSet): (seq: number) => boolean {
  const others = new Set(also);
  return seq => seq <= to || others.has(seq);
}

// The same set, written as short as possible and without messages that are gone. `live` is ascending. `seq` is the last
// number used, so later messages are never in the set.
export function numberSet(live: readonly number[], members: ReadonlySet<number>, seq: number): NumberSet {
  const missing = live.findIndex(one => !members.has(one));
  if (missing === -1) return { to: seq, also: [] };
  return { to: live[missing]! - 1, also: live.slice(missing + 1).filter(one => members.has(one)) };
}

export const stateStep = (uid: string): string => `state of ${uid}`;

// Writes the state, and the stats of every category whose counts have changed. The stats of an empty category are
// deleted, because they would add up.
export function stateSteps(
  before: UserState | undefined,
  state: Omit<UserState, 'version' | 'kind'>,
  isRemembered = false,
): NamedStep[] {
  const { uid } = state;
  const whole = Object.assign({}, state, totalsOf(state.counts));
  const asBefore = before && {
    ifVersion: before.version,
    ...(isRemembered && { if: { born: before.born! } }), // the user may have joined again
  };
  const guard = asBefore ?? { ifAbsent: true };
  const steps: NamedStep[] = [[stateStep(uid), write.put(userStats, whole, guard)]];
  const { tenant_key, inbox_key } = state;
  for (const category of new Set([...Object.keys(before?.counts ?? {}), ...Object.keys(state.counts)])) {
    const [all, unread] = countsOf(state.counts, category);
    const [allBefore, unreadBefore] = countsOf(before?.counts, category);
    if (category === uncategorised || (all === allBefore && unread === unreadBefore)) continue;
    const stats = { tenant_key, inbox_key, uid, category, published: all, read: all - unread };
    const step = all > 0 ? write.put(categoryStats, stats) : write.delete(categoryStats, stats);
    steps.push([`${category} of ${uid}`, step]);
  }
  return steps;
}
