import { expect, it } from 'vitest';
import { and, is, not, or } from '../../src/index.ts';
import {
  categoryCount,
  dueMessages,
  inbox,
  message,
  receipt,
  total,
  user,
  userByEmail,
} from '../example-table.ts';
import { ann, messageOf, nowSeconds, storeOf, type Target } from './target.ts';

const m1 = { ...ann, id: 'm1' };
const annUser = { tenant_key: 'acme', uid: 'ann' };

export function testUpdates(target: () => Target): void {
  const raw = async () =>
    (await target().client.get({ TableName: inbox.name, Key: { pk: 't#acmeU#ann#main', sk: 'm#m1' } })).Item;

  it('sets, removes and returns the old and the new image', async () => {
    const store = storeOf(target);
    await store.put(message, messageOf('m1', { readat: 1, taxonomy: { category: 'a' } }));
    const after = await store.update(message, m1, {
      set: { title: 'New', 'taxonomy.category': 'b' },
      remove: ['readat'],
    });
    expect(after).toEqual({
      ...messageOf('m1'),
      kind: 'UM',
      status: 'sent',
      title: 'New',
      taxonomy: { category: 'b' },
    });
    const before = await store.update(message, m1, { set: { title: 'Newer' } }, { returns: 'old' });
    expect(before?.title).toBe('New');
  });

  it('adds, appends and deletes from sets, and counts the version', async () => {
    const store = storeOf(target);
    await store.put(user, { ...annUser, name: 'Ann', roles: new Set(['a']) });
    const first = await store.update(user, annUser, {
      add: { roles: new Set(['b', 'c']) },
      append: { history: ['x'] },
    });
    expect(first).toMatchObject({ roles: new Set(['a', 'b', 'c']), history: ['x'], version: 2 });
    const second = await store.update(
      user,
      annUser,
      { deleteFrom: { roles: new Set(['a']) }, append: { history: ['y'] } },
      { ifVersion: 2 },
    );
    expect(second).toMatchObject({ roles: new Set(['b', 'c']), history: ['x', 'y'], version: 3 });
    await expect(store.update(user, annUser, { set: { name: 'x' } }, { ifVersion: 2 })).rejects.toMatchObject(
      {
        code: 'table.condition_failed',
        details: { current: { version: 3 } },
      },
    );
  });

  it('does not create an item by default', async () => {
    const store = storeOf(target);
    await expect(store.update(total, ann, { add: { published: 1 } })).rejects.toMatchObject({
      code: 'table.condition_failed',
    });
    expect(await store.get(total, ann)).toBeUndefined();
    for (const published of [1, 2]) {
      const counted = await store.update(total, ann, { add: { published: 1 } }, { upsert: true });
      expect(counted).toEqual({ ...ann, kind: 'US', published });
    }
  });

  it('keeps a category of any text apart from the total', async () => {
    const store = storeOf(target);
    await store.update(total, ann, { add: { published: 7 } }, { upsert: true });
    for (const category of ['*', 'a#b', 'a%23b', 'späte Grüße', '\0', '/']) {
      const counted = await store.update(
        categoryCount,
        { ...ann, category },
        { add: { published: 1 } },
        { upsert: true },
      );
      expect(counted).toEqual({ ...ann, kind: 'US', category, published: 1 });
    }
    expect((await store.get(total, ann))?.published).toBe(7);
  });

  it('distinguishes a first mark from a second by the old image', async () => {
    const store = storeOf(target);
    const mark = (readat: number) =>
      store.update(
        receipt,
        m1,
        { setOnce: { readat, expiredat: nowSeconds + 60 } },
        { upsert: true, returns: 'old' },
      );
    const first = await mark(5);
    if (target().imagesNothing) expect(first).not.toHaveProperty('readat');
    else expect(first).toBeUndefined();
    expect(await mark(6)).toMatchObject({ readat: 5 });
    expect(await store.get(receipt, m1)).toMatchObject({ readat: 5, id: 'm1' });
    await store.put(message, messageOf('m1'));
    await expect(mark(7)).rejects.toMatchObject({ code: 'table.condition_failed' });
  });

  it('updates index keys with their attributes, and removes them with them', async () => {
    const store = storeOf(target);
    await store.put(message, messageOf('m1', { status: 'draft' }));
    expect(await raw()).not.toHaveProperty('duepk');
    await store.update(message, m1, { set: { shard: 3, dueat: 5000 } });
    expect(await raw()).toMatchObject({
      duepk: 'DUE#3',
      duesk: '00000000005000#m1',
      statussk: 'STATUS#draft#m1',
    });
    expect((await store.query(dueMessages, { shard: 3 })).items).toHaveLength(1);

    const current = await store.update(message, m1, { set: { status: 'sent' } });
    expect(await raw()).toMatchObject({ duesk: '00000000005000#m1', statussk: 'STATUS#sent#m1' });
    await store.update(message, m1, { set: { dueat: 9000 } }, { current });
    expect(await raw()).toMatchObject({ duepk: 'DUE#3', duesk: '00000000009000#m1' });

    const cleared = await store.update(message, m1, { set: { dueat: null } });
    expect(cleared.dueat).toBeNull();
    expect(await raw()).not.toHaveProperty('duepk');
    expect(await raw()).not.toHaveProperty('duesk');
    await store.update(message, m1, { set: { dueat: 1 } }, { current });
    await store.update(message, m1, { remove: ['shard'] });
    expect(await raw()).not.toHaveProperty('duepk');
    expect((await store.query(dueMessages, { shard: 3 })).items).toEqual([]);
  });

  it('never builds an index key from an outdated value', async () => {
    const store = storeOf(target);
    const old = await store.put(message, messageOf('m1', { shard: 1, dueat: 1 }));
    await expect(store.update(message, m1, { set: { dueat: 2 } })).rejects.toThrow(/also needs shard/);
    await store.update(message, m1, { set: { shard: 2, dueat: 1 } });
    await expect(store.update(message, m1, { set: { dueat: 2 } }, { current: old })).rejects.toMatchObject({
      code: 'table.condition_failed',
      details: { current: { shard: 2 } },
    });
    expect(await raw()).toMatchObject({ duepk: 'DUE#2' });
  });

  it('finds an item in an index with one key', async () => {
    const store = storeOf(target);
    const email = 'ann@example.com';
    await store.put(user, { ...annUser, email, name: 'Ann' });
    // An index may be late.
    const found = async () => (await store.query(userByEmail, { tenant_key: 'acme', email })).items;
    await expect.poll(found).toEqual([annUser]);
    await store.update(user, annUser, { set: { email: null } });
    await expect.poll(found).toEqual([]);
  });

  it('supports every comparison', async () => {
    const store = storeOf(target);
    await store.put(message, messageOf('m1', { readat: 5, taxonomy: { category: 'billing' } }));
    const holding = [
      { readat: 5 },
      { readat: is.not(4) },
      { readat: is.below(6) },
      { readat: is.atMost(5) },
      { readat: is.above(4) },
      { readat: is.atLeast(5) },
      { readat: is.between(5, 6) },
      not({ readat: is.between(6, 5) }),
      or({ readat: is.between(6, 5) }, { readat: is.between(4, 5), title: is.present }),
      { readat: is.oneOf([4, 5]) },
      { title: is.startingWith('Mess') },
      { title: is.containing('age') },
      { title: is.present, dueat: is.absent },
      { 'taxonomy.category': 'billing' },
      or({ readat: 4 }, { readat: 5 }),
      and({ readat: 5 }, not({ title: 'x' })),
    ];
    const change = { set: { title: 'Message m1' } };
    for (const condition of holding) {
      await store.update(message, m1, change, { if: condition });
      await expect(store.update(message, m1, change, { if: not(condition) })).rejects.toMatchObject({
        code: 'table.condition_failed',
      });
    }
  });
}
