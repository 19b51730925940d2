import type { Message as ClientMessage, MarkRange } from '@stak/client';

/** A message of the inbox. */
export type Message = ClientMessage;
type Count = { total: number; unread: number; unseen: number };
/** The number of messages, of unread and of unseen ones, in total and by category. */
export type Counts = Count & { categories: { [name: string]: Count } };

/** Messages sent since a time (in seconds), until a time, or of one category. An empty object means all. */
export type Span = MarkRange;

/** A part of the inbox. */
export type View = 'inbox' | 'snoozed' | 'archived';
/** Selects the messages to list. */
export type Filter = { view?: View; isRead?: boolean; category?: string };

/** A change of a message's flags. */
export type Mark =
  | { kind: 'read' | 'unread' | 'archive' | 'unarchive' | 'unsnooze' }
  | { kind: 'snooze'; until: number };

// The expected result of a mark, shown until the server responds.
export function applyMark(message: Message, mark: Mark, nowS: number): Message {
  switch (mark.kind) {
    case 'read':
      return { ...message, read: true, readat: message.readat ?? nowS, seen: true };
    case 'unread':
      return { ...message, read: false, readat: null };
    case 'archive':
      return { ...message, archived: true };
    case 'unarchive':
      return { ...message, archived: false };
    case 'snooze':
      return { ...message, snoozed_until: mark.until };
    case 'unsnooze':
      return { ...message, snoozed_until: null, read: false, readat: null };
  }
}

export const isSnoozed = (message: Message, nowS: number): boolean =>
  message.snoozed_until !== null && message.snoozed_until > nowS;

const viewOf = (message: Message, nowS: number): View =>
  message.archived ? 'archived' : isSnoozed(message, nowS) ? 'snoozed' : 'inbox';

export const isShown = (message: Message, filter: Filter, nowS: number): boolean =>
  message.expiredat > nowS &&
  viewOf(message, nowS) === (filter.view ?? 'inbox') &&
  (filter.isRead === undefined || message.read === filter.isRead) &&
  (filter.category === undefined || message.taxonomy?.category === filter.category);

export const isInSpan = (message: Message, { since, as_of, category }: Span): boolean =>
  (since === undefined || message.received >= since) &&
  (as_of === undefined || message.received <= as_of) &&
  (category === undefined || message.taxonomy?.category === category);

// Newest first, each message once: a changed message replaces the old one, is added or is removed.
export function insertMessage(
  list: readonly Message[],
  message: Message,
  filter: Filter,
  nowS: number,
): Message[] {
  const others = list.filter(one => one.id !== message.id);
  if (!isShown(message, filter, nowS)) return others;
  const at = others.findIndex(one => one.id < message.id);
  return at < 0 ? [...others, message] : others.toSpliced(at, 0, message);
}

// Only messages in the inbox count, not snoozed or archived ones.
export function countsAfter(counts: Counts, before: Message, after: Message, nowS: number): Counts {
  return addTo(addTo(counts, before, -1, nowS), after, 1, nowS);
}

function addTo(counts: Counts, message: Message, sign: 1 | -1, nowS: number): Counts {
  if (!isShown(message, {}, nowS)) return counts;
  const add = (count: Count): Count => ({
    total: count.total + sign,
    unread: count.unread + (message.read ? 0 : sign),
    unseen: count.unseen + (message.seen ? 0 : sign),
  });
  const category = message.taxonomy?.category;
  const { categories } = counts;
  if (category === undefined) return { ...add(counts), categories };
  const known = categories[category] ?? { total: 0, unread: 0, unseen: 0 };
  return { ...add(counts), categories: { ...categories, [category]: add(known) } };
}
