import type { InputOf, ItemOf } from '@stak/table';
import type { Broadcast, Broadcasts } from './broadcast-list.ts';
import { numberSet, numberTest } from './number-set.ts';
import type { UserPlace } from './places.ts';
import type { expiry, userMessage, userStats } from './table.ts';

// What the state of a user's inbox means. Nothing here reads or writes.

export type UserState = ItemOf<typeof userStats>;
export type UserStateInput = InputOf<typeof userStats>;
export type UserMessage = ItemOf<typeof userMessage>;
export type MarkedRange = UserState['ranges'][number];
export type Snooze = UserState['snoozed'][number];
export type Counts = UserState['counts'];

export type Flags = { read: boolean; seen: boolean; archived: boolean; snoozed: boolean };

// One of the user's own messages as it was last marked: by the message itself, or by its expiry, which outlives it.
export type OwnMark = {
  id: string;
  category?: string;
  touched: number;
  read: boolean;
  seen: boolean;
  archived: boolean;
};

export const uncategorised = '*'; // no category can be called that

export const emptyState = (user: UserPlace, joined: number, born?: string): UserStateInput => ({
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

// The ranges that went over a message since it was last marked by itself. They mark what is in the inbox: what
// is archived or snoozed is not.
export const rangesOver = (state: UserState, mark: OwnMark): MarkedRange[] =>
  mark.archived || isSnoozed(state, mark.id)
    ? []
    : state.ranges.filter(range => range.version > mark.touched && isInRange(range, mark.id, mark.category));

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

export const isSnoozed = (state: UserState, id: string): boolean => state.snoozed.some(one => one.id === id);

// For one message to everyone after the other: there may be a thousand, and as many numbers.
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

// The highest number of a message to everyone that the state knows of.
export const lastNumber = ({ read_numbers, seen_numbers, archived_numbers }: UserState): number =>
  Math.max(
    ...[read_numbers.to, seen_numbers.to],
    ...[read_numbers.also.at(-1) ?? 0, seen_numbers.also.at(-1) ?? 0, archived_numbers.at(-1) ?? 0],
  );

export const isVisible = (state: UserState, one: Broadcast, nowMs: number): boolean =>
  one.seq > state.joined && one.expiredat * 1000 > nowMs;

type Numbers = readonly [all: number, unread: number, unseen: number];
const zero: Numbers = [0, 0, 0];

// A category may be called `constructor`, too.
export const countsOf = (counts: Counts | undefined, category: string): Numbers =>
  counts && Object.hasOwn(counts, category) ? counts[category]! : zero;

// A message counts while it is in the inbox.
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

export function totalsOf(counts: Counts): { published: number; read: number } {
  let published = 0;
  let read = 0;
  for (const [all, unread] of Object.values(counts)) {
    published += all;
    read += all - unread;
  }
  return { published, read };
}

// Sets the flags of some messages to everyone, and forgets those that are gone.
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

// Adds a range. Older ones that it goes over entirely have nothing more to say.
export function addRange(ranges: readonly MarkedRange[], added: MarkedRange): MarkedRange[] {
  const isOver = (old: MarkedRange) =>
    (!added.only_seen || old.only_seen) &&
    (added.category === undefined || added.category === old.category) &&
    (added.from === undefined || (old.from !== undefined && added.from <= old.from)) &&
    (added.before === undefined || (old.before !== undefined && added.before >= old.before));
  return [...ranges.filter(old => !isOver(old)), added];
}
