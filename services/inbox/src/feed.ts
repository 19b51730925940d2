import type { ItemOf } from '@stak/table';
import type { Broadcast, PublicMessage } from './broadcast-list.ts';
import type { Service } from './deps.ts';
import { noMessage } from './errors.ts';
import * as limits from './limits.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { readAt } from './marks.ts';
import type { UserPlace } from './places.ts';
import type { ShownMessage } from './schema.ts';
import { messagesOfUser, receipt, userMessage } from './table.ts';
import { broadcastFlags, type Flags, flagsOf, isVisible, markOf, type UserMessage } from './user-state.ts';

export type FeedFilter = { category?: string; read?: boolean; archived: boolean; snoozed: boolean };
export type Feed = { items: ShownMessage[]; before?: string };

type Receipt = ItemOf<typeof receipt>;
type Row =
  | { id: string; message: UserMessage; flags: Flags }
  | { id: string; broadcast: Broadcast; flags: Flags; receipt?: Receipt };

// The user's own messages and those to everyone, newest first. Both are in the order of their ids, so they are
// merged as they come; the page goes on after an id, whatever has arrived or gone since.
export async function readFeed(
  service: Service,
  user: UserPlace,
  filter: FeedFilter,
  { limit, before }: { limit: number; before?: string },
): Promise<Feed> {
  const box = await openMailbox(service, user);
  const { rows, next } = await collectRows(service, box, filter, limit, before);
  const ids = rows.flatMap(row => ('broadcast' in row ? [row.id] : []));
  const texts = await service.broadcasts.texts(user, ids);
  const items = rows.flatMap(row => {
    if ('message' in row) return [showOwn(box, row.message, row.flags)];
    const text = texts.get(row.id);
    return text ? [showPublic(box, text, row.flags, row.receipt)] : [];
  });
  return { items, before: next };
}

async function collectRows(
  { store }: Service,
  box: Mailbox,
  filter: FeedFilter,
  limit: number,
  before: string | undefined,
): Promise<{ rows: Row[]; next?: string }> {
  const { user, state, broadcasts, nowMs } = box;
  const isWanted = matcher(filter);
  const publicFlags = broadcastFlags(state);
  const toEveryone = broadcasts.newestFirst.filter(
    one => isVisible(state, one, nowMs) && (before === undefined || one.id < before),
  );
  const rows: Row[] = [];
  const range = before === undefined ? {} : { before: { id: before } };
  let cursor: string | undefined;
  let low = before ?? '\uffff'; // ids from here up have been merged
  let next = 0; // in toEveryone
  for (let read = 0, size = limit + 2; ; size = Math.min(size * 2, limits.feedRows)) {
    const page = await store.query(messagesOfUser, user, { ...range, limit: size, cursor });
    const receipts = new Map<string, Receipt>();
    for (const found of page.items)
      if (found.entity === 'read receipt') receipts.set(found.item.id, found.item);
    cursor = page.cursor;
    const isEnd = cursor === undefined;
    low = isEnd ? '' : (page.items.at(-1)?.item.id ?? low); // a page may hold nothing but what has expired
    const own = page.items.flatMap(({ entity, item }) => (entity === 'user message' ? [item] : []));
    const merged: Row[] = own.map(message => ({
      id: message.id,
      message,
      flags: flagsOf(state, markOf(message)),
    }));
    for (; next < toEveryone.length && toEveryone[next]!.id >= low; next++) {
      const broadcast = toEveryone[next]!;
      const { id } = broadcast;
      merged.push({ id, broadcast, flags: publicFlags(broadcast), receipt: receipts.get(id) });
    }
    merged.sort((a, b) => (a.id < b.id ? 1 : -1));
    for (const row of merged) {
      if (!isWanted(row)) continue;
      if (rows.length === limit) return { rows, next: rows.at(-1)!.id };
      rows.push(row);
    }
    if (isEnd) return { rows };
    read += page.items.length;
    if (read >= limits.feedRows) return { rows, next: low };
  }
}

const matcher =
  ({ category, read, archived, snoozed }: FeedFilter) =>
  (row: Row): boolean => {
    const of = 'message' in row ? row.message.taxonomy?.category : row.broadcast.category;
    return (
      row.flags.archived === archived &&
      row.flags.snoozed === snoozed &&
      (category === undefined || category === of) &&
      (read === undefined || read === row.flags.read)
    );
  };

export async function readMessage(service: Service, user: UserPlace, id: string): Promise<ShownMessage> {
  const box = await openMailbox(service, user);
  const broadcast = box.broadcasts.byId.get(id);
  if (broadcast && isVisible(box.state, broadcast, box.nowMs)) {
    const text = (await service.broadcasts.texts(user, [id])).get(id);
    const read = await service.store.get(receipt, { ...user, id }, { consistent: true });
    if (text) return showPublic(box, text, broadcastFlags(box.state)(broadcast), read);
  }
  const message = await service.store.get(userMessage, { ...user, id }, { consistent: true });
  if (!message) throw noMessage();
  return showOwn(box, message, flagsOf(box.state, markOf(message)));
}

const snoozedUntil = ({ state }: Mailbox, id: string): number | null =>
  state.snoozed.find(one => one.id === id)?.until ?? null;

export function showOwn(box: Mailbox, message: UserMessage, flags: Flags): ShownMessage {
  return {
    ...shownContent(message),
    ...shownFlags(flags),
    readat: flags.read ? (readAt(box.state, message) ?? null) : null,
    snoozed_until: snoozedUntil(box, message.id),
  };
}

export function showPublic(
  box: Mailbox,
  text: PublicMessage,
  flags: Flags,
  read: Receipt | undefined,
): ShownMessage {
  return {
    ...shownContent(text),
    ...shownFlags(flags),
    readat: flags.read ? (read?.readat ?? box.state.all_read_at ?? null) : null,
    snoozed_until: snoozedUntil(box, text.id),
  };
}

const shownFlags = ({ read, seen, archived }: Flags) => ({ read, seen, archived });

const shownContent = (one: UserMessage | PublicMessage) => ({
  id: one.id,
  host_system_id: one.host_system_id,
  sender: one.sender,
  audiences: one.audiences,
  received: one.received,
  delivered: one.delivered,
  expiredat: one.expiredat,
  taxonomy: one.taxonomy,
  message: one.message,
});
