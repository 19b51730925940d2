import { createHash } from 'node:crypto';
import { createRecentMap } from '@stak/kit';
import { type ItemOf, type NamedStep, type ResultOf, ref, type Store, write } from '@stak/table';
import type { Deps } from '../deps.ts';
import { messageNotFound } from '../errors.ts';
import { type InboxId, inboxText, type MailboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import type { ShownMessage } from '../schema.ts';
import { messageBody, messagesOfUser, receipt, userMessage } from '../tables.ts';
import type { Broadcast, PublicMessage } from './broadcast-list.ts';
import { isHidden, type Mailbox, openMailbox } from './mailbox.ts';
import { broadcastFlags, type Flags, flagsOf, isVisible, markOf, readAt, type UserMessage } from './state.ts';

export type FeedFilter = { category?: string; read?: boolean; archived: boolean; snoozed: boolean };
export type Feed = { items: ShownMessage[]; before?: string };

type Receipt = ItemOf<typeof receipt>;
type Row =
  | { id: string; message: UserMessage; flags: Flags }
  | { id: string; broadcast: Broadcast; flags: Flags; receipt?: Receipt };

// The user's own messages and those to everyone, newest first. Both are sorted by id, so they are merged as they are
// read. The next page starts after an id, so messages that arrive or expire in between do not matter.
export async function readFeed(
  deps: Deps,
  user: MailboxId,
  filter: FeedFilter,
  range: { limit: number; before?: string },
): Promise<Feed> {
  return readPage(deps, await openMailbox(deps, user), filter, range);
}

async function readPage(
  deps: Deps,
  mailbox: Mailbox,
  filter: FeedFilter,
  { limit, before }: { limit: number; before?: string },
): Promise<Feed> {
  const { rows, next } = shorten(await collectRows(deps, mailbox, filter, limit, before));
  const ids = rows.flatMap(row => ('broadcast' in row ? [row.id] : []));
  const own = rows.flatMap(row => ('message' in row ? [row.message] : []));
  const [texts, messages] = await Promise.all([
    deps.broadcasts.texts(mailbox.user, ids),
    deps.sharedBodies.complete(mailbox.user, own),
  ]);
  const items = rows.flatMap(row => {
    if ('message' in row) {
      const message = messages.get(row.id);
      return message ? [showOwn(mailbox, message, row.flags)] : [];
    }
    const text = texts.get(row.id);
    return text ? [showPublic(mailbox, text, row.flags, row.receipt)] : [];
  });
  return { items, before: next };
}

// As many rows as the limit on bodies allows, but at least one.
function shorten({ rows, next }: { rows: Row[]; next?: string }): { rows: Row[]; next?: string } {
  let bytes = 0;
  const end = rows.findIndex((row, i) => {
    bytes += 'message' in row ? (row.message.body_bytes ?? 0) : 0;
    return bytes > limits.pageBodyBytes && i > 0;
  });
  return end === -1 ? { rows, next } : { rows: rows.slice(0, end), next: rows[end - 1]!.id };
}

async function collectRows(
  { store }: Deps,
  mailbox: Mailbox,
  filter: FeedFilter,
  limit: number,
  before: string | undefined,
): Promise<{ rows: Row[]; next?: string }> {
  const isWanted = matcher(filter);
  const merge = merger(mailbox, before);
  const range = before === undefined ? {} : { before: { id: before } };
  const rows: Row[] = [];
  let cursor: string | undefined;
  let low = before; // everything above this id is merged
  for (let read = 0, size = limit + 2; ; size = Math.min(size * 2, limits.feedQuery)) {
    const page = await store.query(messagesOfUser, mailbox.user, { ...range, limit: size, cursor });
    cursor = page.cursor;
    const isEnd = cursor === undefined;
    low = isEnd ? undefined : (page.items.at(-1)?.item.id ?? low); // a page may hold expired messages only
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

// Merges own messages, as they are read, with the messages to everyone, which are in memory. Receipts show when the
// latter were read; a receipt whose message is gone is ignored.
function merger(mailbox: Mailbox, before: string | undefined) {
  const { state, broadcasts, nowMs } = mailbox;
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
      else if (!isHidden(mailbox, item.taxonomy?.category))
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

export async function readMessage(deps: Deps, user: MailboxId, id: string): Promise<ShownMessage> {
  const mailbox = await openMailbox(deps, user);
  const broadcast = mailbox.broadcasts.byId.get(id);
  if (broadcast && isVisible(mailbox.state, broadcast, mailbox.nowMs)) {
    const text = (await deps.broadcasts.texts(user, [id])).get(id);
    const read = await deps.store.get(receipt, { ...user, id }, { consistent: true });
    if (text) return showPublic(mailbox, text, broadcastFlags(mailbox.state)(broadcast), read);
  }
  const message = await deps.store.get(userMessage, { ...user, id }, { consistent: true });
  const isThere = message && !isHidden(mailbox, message.taxonomy?.category);
  const whole = isThere && (await deps.sharedBodies.complete(user, [message])).get(id);
  if (!whole) throw messageNotFound();
  return showOwn(mailbox, whole, flagsOf(mailbox.state, markOf(whole)));
}

const snoozedUntil = ({ state }: Mailbox, id: string): number | null =>
  state.snoozed.find(one => one.id === id)?.until ?? null;

export const showOwn = (mailbox: Mailbox, message: UserMessage, flags: Flags): ShownMessage =>
  show(mailbox, message, flags, flags.read ? readAt(mailbox.state, message) : undefined);

export const showPublic = (
  mailbox: Mailbox,
  text: PublicMessage,
  flags: Flags,
  read: Receipt | undefined,
): ShownMessage =>
  show(mailbox, text, flags, flags.read ? (read?.readat ?? mailbox.state.all_read_at) : undefined);

// Written out, attribute by attribute: spreading objects took a tenth of the time of a page.
const show = (
  mailbox: Mailbox,
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
  snoozed_until: snoozedUntil(mailbox, one.id),
});

// A page that is ready to be sent: its items are JSON.
export type Page = { items: string; tag: string; before?: string };

export async function openPage(
  deps: Deps,
  user: MailboxId,
  filter: FeedFilter,
  range: { limit: number; before?: string },
): Promise<Page> {
  const mailbox = await openMailbox(deps, user);
  const question = JSON.stringify([filter, range]);
  const known = deps.pageCache.get(mailbox, question);
  if (known) return known;
  const { items, before } = await readPage(deps, mailbox, filter, range);
  const page = { items: JSON.stringify(items), tag: tagOf(items, before !== undefined), before };
  if (page.items.length <= limits.pageChars) deps.pageCache.set(mailbox, question, page);
  return page;
}

// Texts never change, so the ids and flags of its messages identify a page.
export function tagOf(items: readonly ShownMessage[], hasMore: boolean): string {
  let marks = hasMore ? 'more' : 'end';
  for (const item of items)
    marks += `${item.id}${item.read}${item.seen}${item.archived}${item.readat}${item.snoozed_until}`;
  return createHash('sha256').update(marks).digest('hex').slice(0, 32);
}

// A large body with several recipients is stored once, beside the record of its send. The copies hold its size. A copy
// whose body is gone has just been redacted.

export const bytesOf = (body: unknown): number => Buffer.byteLength(JSON.stringify(body ?? null));

// Whether sharing the body saves enough to be worth another read.
export const isShared = (bytes: number, recipients: number): boolean =>
  bytes > limits.ownBodyBytes && bytes * (recipients - 1) > limits.savedBytes;

type Keyed = InboxId & { id: string; body_bytes?: number };

const keyOf = ({ tenant_key, inbox_key, id }: Keyed) => ({ tenant_key, inbox_key, bucket: inbox_key, id });

export const putBodySteps = (made: Keyed & { expiredat: number }, body: unknown): NamedStep[] =>
  made.body_bytes === undefined
    ? []
    : [['body', write.put(messageBody, { ...keyOf(made), body: body ?? null, expiredat: made.expiredat })]];

export const deleteBodySteps = (made: Keyed): NamedStep[] =>
  made.body_bytes === undefined ? [] : [['body', write.delete(messageBody, keyOf(made))]];

export type SharedBodies = {
  // Adds the bodies to the messages, in one batch. Leaves out messages whose body is gone.
  complete(inbox: InboxId, messages: readonly UserMessage[]): Promise<Map<string, UserMessage>>;
};

export function createSharedBodies({ store }: { store: Store }): SharedBodies {
  const bodies = createRecentMap<string, { body: unknown }>(limits.cachedBodies);

  return {
    async complete({ tenant_key, inbox_key }, messages) {
      const inbox = { tenant_key, inbox_key };
      const found = new Map<string, { body: unknown }>();
      const missing: string[] = [];
      for (const { id, body_bytes } of messages) {
        if (body_bytes === undefined) continue;
        const cached = bodies.get(`${inboxText(inbox)}#${id}`);
        if (cached) found.set(id, cached);
        else missing.push(id);
      }
      if (missing.length > 0) {
        const refs = missing.map(id => ref(messageBody, keyOf({ ...inbox, id })));
        for (const one of await store.batchGet(refs, { consistent: true, pattern: 'bodies of messages' })) {
          if (!one) continue;
          found.set(one.id, { body: one.body });
          if (bytesOf(one.body) <= limits.cachedTextChars)
            bodies.set(`${inboxText(inbox)}#${one.id}`, { body: one.body });
        }
      }
      const completed = new Map<string, UserMessage>();
      for (const message of messages) {
        const { id, body_bytes } = message;
        if (body_bytes === undefined) completed.set(id, message);
        const shared = found.get(id);
        if (shared) completed.set(id, { ...message, message: { ...message.message, body: shared.body } });
      }
      return completed;
    },
  };
}
