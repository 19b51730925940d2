import { manualClock } from '@stak/kit';
import { expect, it } from 'vitest';
import { createCursors, createLedger, is } from '../../src/index.ts';
import {
  byStatus,
  dueMessages,
  feed,
  mailbox,
  message,
  messagesOfUser,
  receipt,
  total,
  unreadMessages,
} from '../example-table.ts';
import { ann, messageOf, nowMs, nowSeconds, storeOf, type Target } from './target.ts';

const number = (n: number) => String(n).padStart(3, '0');

export function testQueries(target: () => Target): void {
  async function fill(count: number, more: (n: number) => object = () => ({})) {
    const store = storeOf(target);
    for (let n = 1; n <= count; n++) await store.put(message, messageOf(number(n), more(n)));
    return store;
  }
  const ids = (items: readonly { id?: string }[]) => items.map(item => item.id);

  it('reads a prefix in either order', async () => {
    const store = await fill(3);
    await store.put(total, { ...ann, published: 3 });
    await store.put(message, { ...messageOf('004'), uid: 'annU' });
    expect(ids((await store.query(messagesOfUser, ann)).items)).toEqual(['003', '002', '001']);
    const oldestFirst = await store.query(messagesOfUser, ann, { newestFirst: false });
    expect(ids(oldestFirst.items)).toEqual(['001', '002', '003']);
    expect(oldestFirst.cursor).toBeUndefined();
  });

  it('reads between bounds, with them or without', async () => {
    const store = await fill(5);
    await store.put(total, ann);
    const read = async (range: object) =>
      ids((await store.query(messagesOfUser, ann, { newestFirst: false, ...range })).items);
    expect(await read({ from: { id: '002' } })).toEqual(['002', '003', '004', '005']);
    expect(await read({ after: { id: '002' } })).toEqual(['003', '004', '005']);
    expect(await read({ to: { id: '002' } })).toEqual(['001', '002']);
    expect(await read({ before: { id: '002' } })).toEqual(['001']);
    expect(await read({ from: { id: '002' }, to: { id: '004' } })).toEqual(['002', '003', '004']);
    expect(await read({ after: { id: '002' }, before: { id: '004' } })).toEqual(['003']);
    expect(await read({ before: { id: '004' }, newestFirst: true, limit: 2 })).toEqual(['003', '002']);
    expect(ids((await store.query(messagesOfUser, { ...ann, id: '003' })).items)).toEqual(['003']);
  });

  it('reads nothing between bounds with nothing between them', async () => {
    const store = await fill(3);
    const backwards = [
      { from: { id: '003' }, to: { id: '001' } },
      { after: { id: '002' }, to: { id: '002' } },
      { after: { id: '002' }, before: { id: '002' } },
      { from: { id: '002' }, before: { id: '002' } },
    ];
    for (const range of backwards) {
      expect(await store.query(messagesOfUser, ann, range)).toEqual({ items: [] });
      for await (const found of store.all(messagesOfUser, ann, range)) expect.unreachable(found.id);
    }
  });

  it('reads between bounds in the middle of a key, the last one included', async () => {
    const store = await fill(6, n => ({ shard: 1, dueat: Math.ceil(n / 2) * 10 }));
    const read = async (range: object) => ids((await store.query(dueMessages, { shard: 1 }, range)).items);
    expect(await read({ to: { dueat: 20 } })).toEqual(['001', '002', '003', '004']);
    expect(await read({ before: { dueat: 20 } })).toEqual(['001', '002']);
    expect(await read({ from: { dueat: 20 } })).toEqual(['003', '004', '005', '006']);
    expect(await read({ after: { dueat: 20 } })).toEqual(['005', '006']);
    expect(await read({ after: { dueat: 10, id: '001' }, to: { dueat: 20 } })).toEqual(['002', '003', '004']);
    expect(ids((await store.query(dueMessages, { shard: 1, dueat: 20 })).items)).toEqual(['003', '004']);
  });

  it('returns what an index has of an item', async () => {
    const store = await fill(4, n => ({ status: n % 2 ? 'sent' : 'draft', readat: n }));
    // An index may be late.
    const drafts = async () => (await store.query(byStatus, { ...ann, status: 'draft' })).items;
    await expect
      .poll(drafts)
      .toEqual(
        ['002', '004'].map(id => ({ ...ann, id, kind: 'UM', status: 'draft', title: `Message ${id}` })),
      );
  });

  it('distinguishes the entities of a mixed partition', async () => {
    const store = await fill(1);
    await store.put(receipt, { ...ann, id: '002', readat: 1, expiredat: nowSeconds + 9 });
    await store.put(total, { ...ann, published: 1 });
    const { items } = await store.query(mailbox, ann);
    expect(items.map(one => one.entity)).toEqual(['total', 'message', 'receipt']);
    expect((await store.query(feed, ann)).items).toEqual([
      { entity: 'message', item: { ...messageOf('001'), kind: 'UM', status: 'sent' } },
      { entity: 'receipt', item: { ...ann, id: '002', readat: 1, expiredat: nowSeconds + 9 } },
    ]);
  });

  it('fills a page across gaps, and continues after the last item', async () => {
    // Two thirds are receipts, which a query of messages has to pass over.
    const store = storeOf(target);
    for (let n = 1; n <= 30; n++) {
      if (n % 3 === 0) await store.put(message, messageOf(number(n)));
      else await store.put(receipt, { ...ann, id: number(n), readat: 1, expiredat: nowSeconds + 9 });
    }
    const seen: (string | undefined)[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.query(messagesOfUser, ann, { limit: 4, cursor });
      sizes.push(page.items.length);
      seen.push(...ids(page.items));
      cursor = page.cursor;
    } while (cursor);
    expect(sizes).toEqual([4, 4, 2]);
    expect(seen).toEqual(['030', '027', '024', '021', '018', '015', '012', '009', '006', '003']);
  });

  it('returns no cursor after the last item, even of a full page', async () => {
    const store = await fill(4);
    const page = await store.query(messagesOfUser, ann, { limit: 4 });
    expect(page.items).toHaveLength(4);
    expect(page.cursor).toBeUndefined();
  });

  it('filters, and keeps reading until the page is full or the budget is spent', async () => {
    const store = await fill(40, n => ({ readat: n % 10 === 0 ? null : 1 }));
    const page = await store.query(unreadMessages, ann, { limit: 3 });
    expect(ids(page.items)).toEqual(['040', '030', '020']);
    const rest = await store.query(unreadMessages, ann, { limit: 3, cursor: page.cursor });
    expect(ids(rest.items)).toEqual(['010']);
    expect(rest.cursor).toBeUndefined();
    const both = await store.query(unreadMessages, ann, { filter: { title: is.containing('2') } });
    expect(ids(both.items)).toEqual(['020']);

    const short = await store.query(unreadMessages, ann, { limit: 3, budget: 5 });
    expect(short.items.length).toBeLessThan(3);
    expect(short.cursor).toBeDefined();
    const found = ids(short.items);
    for (let cursor = short.cursor; cursor; ) {
      const next = await store.query(unreadMessages, ann, { limit: 3, budget: 5, cursor });
      found.push(...ids(next.items));
      cursor = next.cursor;
    }
    expect(found).toEqual(['040', '030', '020', '010']);
  });

  it('skips expired items', async () => {
    await fill(4, n => ({ expiredat: nowSeconds + n * 60 }));
    const later = storeOf(target, { clock: manualClock(nowMs + 120_000) });
    expect(ids((await later.query(messagesOfUser, ann, { limit: 2 })).items)).toEqual(['004', '003']);
    expect((await later.query(messagesOfUser, ann)).items).toHaveLength(2);
  });

  it('refuses a cursor of another caller, query, tenant or secret', async () => {
    const cursors = createCursors('secret');
    await fill(3);
    const store = storeOf(target, { cursors });
    const options = { limit: 1, caller: 'ann' };
    const { cursor } = await store.query(messagesOfUser, ann, options);
    const again = await store.query(messagesOfUser, ann, { ...options, limit: 2, cursor });
    expect(ids(again.items)).toEqual(['002', '001']);
    const refused = { code: 'table.cursor_refused' };
    const other = storeOf(target, { cursors: createCursors('other') });
    for (const attempt of [
      () => store.query(messagesOfUser, ann, { ...options, cursor, caller: 'bob' }),
      () => store.query(messagesOfUser, { ...ann, tenant_key: 'evil' }, { ...options, cursor }),
      () => store.query(messagesOfUser, ann, { ...options, cursor, newestFirst: false }),
      () => store.query(messagesOfUser, ann, { ...options, cursor, filter: { title: 'x' } }),
      () => store.query(messagesOfUser, ann, { ...options, cursor, before: { id: '9' } }),
      () => store.query(feed, ann, { ...options, cursor }),
      () => store.query(messagesOfUser, ann, { ...options, cursor: `${cursor}A` }),
      () => store.query(messagesOfUser, ann, { ...options, cursor: '' }),
      () => other.query(messagesOfUser, ann, { ...options, cursor }),
    ])
      await expect(attempt()).rejects.toMatchObject(refused);
  });

  it('iterates over everything', async () => {
    const store = await fill(12);
    const seen: string[] = [];
    for await (const item of store.all(messagesOfUser, ann)) seen.push(item.id);
    expect(seen).toHaveLength(12);
    expect(seen[0]).toBe('012');
  });

  it('counts a query under its name', async () => {
    const ledger = createLedger();
    await fill(1);
    await storeOf(target, { ledger }).query(messagesOfUser, ann);
    expect(ledger.entries()).toMatchObject([{ pattern: 'messages of a user', calls: 1, readUnits: 0.5 }]);
  });
}
