import { csvLine } from '@stak/kit';
import { done, type NamedStep, ref, write } from '@stak/table';
import { type Deps, retry } from '../deps.ts';
import type { InboxId, MailboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { openMailbox } from '../mailbox/mailbox.ts';
import { broadcastFlags, flagsOf, isVisible, markOf, readAt } from '../mailbox/state.ts';
import { audienceOf, erasedRecipient, type Send } from '../publish/send-records.ts';
import { inboxCategories, membersOfInbox, receipt, userMessage, userStats } from '../tables.ts';

type Receipt = { uid: string; read: boolean; readat: number | null };
export type Position = { uid: string } | { index: number }; // by uid among members, or by index among recipients
type Page = { items: Receipt[]; next?: Position };

// The recipients of a send and when they read it, from their mailboxes as they are now. A message to everyone has all
// members as recipients; a redacted one has none.
export async function readReceipts(deps: Deps, found: Send, limit: number, from?: Position): Promise<Page> {
  if (found.status !== 'sent' && found.status !== 'delivering') return { items: [] };
  const { category } = found.taxonomy ?? {};
  if (category !== undefined && (await isBeingDeleted(deps, inboxOf(found), category))) return { items: [] };
  return found.audiences.kind === 'everyone'
    ? readByMembers(deps, found, limit, from && 'uid' in from ? from.uid : undefined)
    : readByRecipients(deps, found, limit, from && 'index' in from ? from.index : 0);
}

const inboxOf = ({ tenant_key, inbox_key }: InboxId): InboxId => ({ tenant_key, inbox_key });

async function isBeingDeleted({ store }: Deps, inbox: InboxId, category: string): Promise<boolean> {
  const known = await store.get(inboxCategories, inbox, { consistent: true });
  return known?.deleting?.includes(category) ?? false;
}

async function readByMembers(deps: Deps, one: Send, limit: number, after?: string): Promise<Page> {
  const { store } = deps;
  const inbox = inboxOf(one);
  const range = after === undefined ? {} : { after: { uid: after } };
  const page = await store.query(membersOfInbox, inbox, { ...range, limit });
  const users = page.items.map(({ uid }) => ({ ...inbox, uid }));
  const [states, receipts] = await Promise.all([
    store.batchGet(
      users.map(user => ref(userStats, user)),
      { consistent: true, pattern: 'receipts' },
    ),
    store.batchGet(
      users.map(user => ref(receipt, { ...user, id: one.id })),
      {
        consistent: true,
        pattern: 'receipts',
      },
    ),
  ]);
  const items = users.flatMap(({ uid }, i): Receipt[] => {
    const state = states[i];
    if (!state || one.seq === undefined || one.seq <= state.joined) return [];
    const { id, seq, expiredat } = one;
    const { read } = broadcastFlags(state)({ id, seq, expiredat });
    return [{ uid, read, readat: read ? (receipts[i]?.readat ?? state.all_read_at ?? null) : null }];
  });
  const last = users.at(-1);
  return { items, next: page.cursor === undefined || !last ? undefined : { uid: last.uid } };
}

async function readByRecipients(deps: Deps, one: Send, limit: number, start: number): Promise<Page> {
  const { store } = deps;
  const inbox = inboxOf(one);
  const uids = await audienceOf(deps, one);
  const users = uids
    .slice(start, start + limit)
    .filter(uid => uid !== erasedRecipient)
    .map(uid => ({ ...inbox, uid }));
  const [states, copies] = await Promise.all([
    store.batchGet(
      users.map(user => ref(userStats, user)),
      { consistent: true, pattern: 'receipts' },
    ),
    store.batchGet(
      users.map(user => ref(userMessage, { ...user, id: one.id })),
      {
        consistent: true,
        pattern: 'receipts',
      },
    ),
  ]);
  const items = users.flatMap(({ uid }, i): Receipt[] => {
    const [state, copy] = [states[i], copies[i]];
    if (!state || !copy) return [];
    const { read } = flagsOf(state, markOf(copy));
    return [{ uid, read, readat: read ? (readAt(state, copy) ?? null) : null }];
  });
  const next = start + limit;
  return { items, next: next < uids.length ? { index: next } : undefined };
}

const writtenTogether = 50; // receipts in one transaction, which has 100 steps at most

// Writes the receipts of messages to everyone that were marked together. Each repeats what the state says, on the
// condition that the state is unchanged, so it can be done late or twice.
export async function writeReceipts(
  deps: Deps,
  user: MailboxId,
  ids: readonly string[],
  readat: number,
): Promise<void> {
  const { store } = deps;
  for (let i = 0; i < ids.length; i += writtenTogether) {
    const some = ids.slice(i, i + writtenTogether);
    await retry<void>(deps, async () => {
      const { isMember, state, broadcasts, nowMs } = await openMailbox(deps, user);
      if (!isMember) return done(undefined); // erased since
      const flagsOfPublic = broadcastFlags(state);
      const read = some
        .flatMap(id => broadcasts.byId.get(id) ?? [])
        .filter(one => isVisible(state, one, nowMs) && flagsOfPublic(one).read);
      if (read.length === 0) return done(undefined);
      const found = await store.batchGet(
        read.map(({ id }) => ref(receipt, { ...user, id })),
        { consistent: true, pattern: 'receipts' },
      );
      const missing = read.filter((_, n) => !found[n]);
      if (missing.length === 0) return done(undefined);
      const unchanged = write.check(userStats, user, { present: true, if: { version: state.version } });
      const receipts = missing.map(({ id, expiredat, category }): NamedStep => {
        const taxonomy = category === undefined ? undefined : { category };
        return [`receipt ${id}`, write.put(receipt, { ...user, id, readat, expiredat, taxonomy })];
      });
      await store.transact([['state', unchanged], ...receipts], { pattern: 'write receipts' });
      return done(undefined);
    });
  }
}

export const receiptFormats = ['ndjson', 'csv'] as const;

// All receipts as lines, a page at a time: the next page is read when the previous one was consumed.
export async function* exportReceipts(
  deps: Deps,
  found: Send,
  format: (typeof receiptFormats)[number],
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(['uid', 'read', 'readat']);
  let from: Position | undefined;
  do {
    const page = await readReceipts(deps, found, limits.pageMessages, from);
    let text = '';
    for (const item of page.items)
      text += format === 'csv' ? csvLine([item.uid, item.read, item.readat]) : `${JSON.stringify(item)}\n`;
    if (text !== '') yield text;
    from = page.next;
  } while (from);
}
