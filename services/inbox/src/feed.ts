import type { ItemOf, ResultOf } from '@stak/table';
import type { Broadcast, PublicMessage } from './broadcast-list.ts';
import type { Service } from './deps.ts';
import { noMessage } from './errors.ts';
import * as limits from './limits.ts';
import { isHidden, type Mailbox, openMailbox } from './mailbox.ts';
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
  range: { limit: number; before?: string },
): Promise<Feed> {
  return readPage(service, await openMailbox(service, user), filter, range);
}

export async function readPage(
  service: Service,
  box: Mailbox,
  filter: FeedFilter,
  { limit, before }: { limit: number; before?: string },
): Promise<Feed> {
  const { rows, next } = shorten(await collectRows(service, box, filter, limit, before));
  const ids = rows.flatMap(row => ('broadcast' in row ? [row.id] : []));
  const own = rows.flatMap(row => ('message' in row ? [row.message] : []));
  const [texts, messages] = await Promise.all([
    service.broadcasts.texts(box.user, ids),
    service.sharedBodies.complete(box.user, own),
  ]);
  const items = rows.flatMap(row => {
    if ('message' in row) {
      const message = messages.get(row.id);
      return message ? [showOwn(box, message, row.flags)] : [];
    }
    const text = texts.get(row.id);
    return text ? [showPublic(box, text, row.flags, row.receipt)] : [];
  });
  return { items, before: next };
}

// As many as their bodies may be read together, and one at least.
function shorten({ rows, next }: { rows: Row[]; next?: string }): { rows: Row[]; next?: string } {
  let bytes = 0;
  const end = rows.findIndex((row, i) => {
    bytes += 'message' in row ? (row.message.body_bytes ?? 0) : 0;
    return bytes > limits.pageBodyBytes && i > 0;
  });
  return end === -1 ? { rows, next } : { rows: rows.slice(0, end), next: rows[end - 1]!.id };
}

async function collectRows(
  { store }: Service,
  box: Mailbox,
  filter: FeedFilter,
  limit: number,
  before: string | undefined,
): Promise<{ rows: Row[]; next?: string }> {
  const isWanted = matcher(filter);
  const merge = merger(box, before);
  const range = before === undefined ? {} : { before: { id: before } };
  const rows: Row[] = [];
  let cursor: string | undefined;
  let low = before; // everything from here up is merged
  for (let read = 0, size = limit + 2; ; size = Math.min(size * 2, limits.feedQuery)) {
    const page = await store.query(messagesOfUser, box.user, { ...range, limit: size, cursor });
    cursor = page.cursor;
    const isEnd = cursor === undefined;
    low = isEnd ? undefined : (page.items.at(-1)?.item.id ?? low); // a page may hold only what has expired
    for (const row of merge(page.items, low, isEnd)) {
      if (!isWanted(row)) continue;
      if (rows.length === limit) return { rows, next: rows.at(-1)!.id };
      rows.push(row);
    }
    if (isEnd) return { rows };
    read += page.items.length;
    if (read >= limits.feedRows) return { rows, next: low };
  }
}

// Own messages as they are read, and between them those to everyone, which are known. Receipts say when the latter
// were read; one whose message is gone says nothing.
function merger(box: Mailbox, before: string | undefined) {
  const { state, broadcasts, nowMs } = box;
  const flagsOfPublic = broadcastFlags(state);
  const waiting = broadcasts.newestFirst.filter(
    one => isVisible(state, one, nowMs) && (before === undefined || one.id < before),
  );
  let next = 0;
  return (
    found: readonly ResultOf<typeof messagesOfUser>[],
    low: string | undefined,
    isEnd: boolean,
  ): Row[] => {
    const receipts = new Map<string, Receipt>();
    const rows: Row[] = [];
    for (const { entity, item } of found) {
      if (entity === 'read receipt') receipts.set(item.id, item);
      else if (!isHidden(box, item.taxonomy?.category))
        rows.push({ id: item.id, message: item, flags: flagsOf(state, markOf(item)) });
    }
    for (; next < waiting.length; next++) {
      const broadcast = waiting[next]!;
      const { id } = broadcast;
      if (!isEnd && (low === undefined || id < low)) break;
      rows.push({ id, broadcast, flags: flagsOfPublic(broadcast), receipt: receipts.get(id) });
    }
    return rows.sort((a, b) => (a.id < b.id ? 1 : -1));
  };
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
  const isThere = message && !isHidden(box, message.taxonomy?.category);
  const whole = isThere && (await service.sharedBodies.complete(user, [message])).get(id);
  if (!whole) throw noMessage();
  return showOwn(box, whole, flagsOf(box.state, markOf(whole)));
}

const snoozedUntil = ({ state }: Mailbox, id: string): number | null =>
  state.snoozed.find(one => one.id === id)?.until ?? null;

export const showOwn = (box: Mailbox, message: UserMessage, flags: Flags): ShownMessage =>
  show(box, message, flags, flags.read ? readAt(box.state, message) : undefined);

export const showPublic = (
  box: Mailbox,
  text: PublicMessage,
  flags: Flags,
  read: Receipt | undefined,
): ShownMessage => show(box, text, flags, flags.read ? (read?.readat ?? box.state.all_read_at) : undefined);

// Attribute by attribute: a page has thirty of them, and copying objects into each other was a tenth of its time.
const show = (
  box: Mailbox,
  one: UserMessage | PublicMessage,
  flags: Flags,
  readat: number | undefined,
): ShownMessage => ({
  id: one.id,
  host_system_id: one.host_system_id,
  sender: one.sender,
  audiences: one.audiences,
  received: one.received,
  delivered: one.delivered,
  expiredat: one.expiredat,
  taxonomy: one.taxonomy,
  message: { title: one.message.title, body: one.message.body, cta_uri: one.message.cta_uri },
  read: flags.read,
  seen: flags.seen,
  archived: flags.archived,
  readat: readat ?? null,
  snoozed_until: snoozedUntil(box, one.id),
});
