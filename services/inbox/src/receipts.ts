import { ref, write } from '@stak/table';
import type { Service } from './deps.ts';
import * as limits from './limits.ts';
import { openMailbox, type Step } from './mailbox.ts';
import { readAt } from './marks.ts';
import type { Place, UserPlace } from './places.ts';
import { done, untilDone } from './race.ts';
import { erasedRecipient } from './recipients.ts';
import { membersOfInbox } from './send-table.ts';
import { audienceOf, type Send } from './sends.ts';
import { inboxCategories, receipt, userMessage, userStats } from './table.ts';
import { broadcastFlags, flagsOf, isVisible, markOf } from './user-state.ts';

export type Receipt = { uid: string; read: boolean; readat: number | null };
export type Position = { uid: string } | { index: number }; // of members by name, or in the list of recipients
type Page = { items: Receipt[]; next?: Position };

// Who got a send, and when they read it, as their inboxes are now. A message to everyone was sent to all members; what
// is redacted nobody has any more.
export async function readReceipts(
  service: Service,
  found: Send,
  limit: number,
  from?: Position,
): Promise<Page> {
  if (found.status !== 'sent' && found.status !== 'delivering') return { items: [] };
  const { category } = found.taxonomy ?? {};
  if (category !== undefined && (await isBeingDeleted(service, placeOf(found), category)))
    return { items: [] };
  return found.audiences.kind === 'everyone'
    ? readByMembers(service, found, limit, from && 'uid' in from ? from.uid : undefined)
    : readByRecipients(service, found, limit, from && 'index' in from ? from.index : 0);
}

const placeOf = ({ tenant_key, inbox_key }: Place): Place => ({ tenant_key, inbox_key });

async function isBeingDeleted({ store }: Service, place: Place, category: string): Promise<boolean> {
  const known = await store.get(inboxCategories, place, { consistent: true });
  return known?.deleting?.includes(category) ?? false;
}

async function readByMembers(service: Service, one: Send, limit: number, after?: string): Promise<Page> {
  const { store } = service;
  const place = placeOf(one);
  const range = after === undefined ? {} : { after: { uid: after } };
  const page = await store.query(membersOfInbox, place, { ...range, limit });
  const users = page.items.map(({ uid }) => ({ ...place, uid }));
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

async function readByRecipients(service: Service, one: Send, limit: number, start: number): Promise<Page> {
  const { store } = service;
  const place = placeOf(one);
  const uids = await audienceOf(service, one);
  const users = uids
    .slice(start, start + limit)
    .filter(uid => uid !== erasedRecipient)
    .map(uid => ({ ...place, uid }));
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

const writtenTogether = 50; // receipts in one transaction, of 100 steps

// Messages to everyone that were read together get their receipts here. Each says what the state says, on the condition
// that this has not changed since, so it can be done late and again.
export async function writeReceipts(
  service: Service,
  user: UserPlace,
  ids: readonly string[],
  readat: number,
): Promise<void> {
  const { store } = service;
  for (let i = 0; i < ids.length; i += writtenTogether) {
    const some = ids.slice(i, i + writtenTogether);
    await untilDone<void>(service, async () => {
      const { isMember, state, broadcasts, nowMs } = await openMailbox(service, user);
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
      const receipts = missing.map(({ id, expiredat, category }): Step => {
        const taxonomy = category === undefined ? undefined : { category };
        return [`receipt ${id}`, write.put(receipt, { ...user, id, readat, expiredat, taxonomy })];
      });
      await store.transact([['state', unchanged], ...receipts], { pattern: 'write receipts' });
      return done(undefined);
    });
  }
}

export const receiptFormats = ['ndjson', 'csv'] as const;

// All of them as lines, page by page: a page is read when the one before is taken. A uid needs no quotes in CSV.
export async function* exportReceipts(
  service: Service,
  found: Send,
  format: (typeof receiptFormats)[number],
): AsyncGenerator<string> {
  if (format === 'csv') yield 'uid,read,readat\r\n';
  let from: Position | undefined;
  do {
    const page = await readReceipts(service, found, limits.pageMessages, from);
    let text = '';
    for (const one of page.items)
      text +=
        format === 'csv' ? `${one.uid},${one.read},${one.readat ?? ''}\r\n` : `${JSON.stringify(one)}\n`;
    if (text !== '') yield text;
    from = page.next;
  } while (from);
}
