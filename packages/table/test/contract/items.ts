import { manualClock } from '@stak/kit';
import { expect, it } from 'vitest';
import { createLedger, is, tableErrors } from '../../src/index.ts';
import { inbox, message, receipt, total, user } from '../example-table.ts';
import { ann, messageOf, nowMs, nowSeconds, storeOf, type Target } from './target.ts';

export function testItems(target: () => Target): void {
  const raw = async (pk: string, sk: string) =>
    (await target().client.get({ TableName: inbox.name, Key: { pk, sk }, ConsistentRead: true })).Item;

  it('stores an item under the keys of the design, and returns it without them', async () => {
    const store = storeOf(target);
    const put = await store.put(
      message,
      messageOf('m1', { taxonomy: { category: 'billing' }, readat: null }),
    );
    expect(put).toEqual({
      ...messageOf('m1'),
      kind: 'UM',
      status: 'sent',
      taxonomy: { category: 'billing' },
      readat: null,
    });
    expect(await store.get(message, { ...ann, id: 'm1' }, { consistent: true })).toEqual(put);
    expect(await raw('t#acmeU#ann#main', 'm#m1')).toMatchObject({
      pk: 't#acmeU#ann#main',
      sk: 'm#m1',
      kind: 'UM',
      statuspk: 't#acmeU#ann#main',
      statussk: 'STATUS#sent#m1',
      tenant_key: 'acme',
    });
    expect(await store.get(message, { ...ann, id: 'm2' })).toBeUndefined();
  });

  it('refuses what the schema does not allow', async () => {
    const store = storeOf(target);
    const refusal = store.put(message, messageOf('m1', { title: 'x'.repeat(201) }));
    await expect(refusal).rejects.toMatchObject({ code: 'table.item_refused', details: [{ path: 'title' }] });
    expect(await store.get(message, { ...ann, id: 'm1' })).toBeUndefined();
  });

  it('keeps sets, lists and maps', async () => {
    const store = storeOf(target);
    await store.put(user, {
      tenant_key: 'acme',
      uid: 'ann',
      name: 'Ann',
      roles: new Set(['a', 'b']),
      history: ['x'],
    });
    expect(await store.get(user, { tenant_key: 'acme', uid: 'ann' })).toEqual({
      kind: 'UR',
      tenant_key: 'acme',
      uid: 'ann',
      name: 'Ann',
      roles: new Set(['a', 'b']),
      history: ['x'],
      version: 1,
    });
  });

  it('stores a map whose fields are named like those of every object', async () => {
    const map = { constructor: ['x'], toString: 'y' };
    await target().client.put({ TableName: inbox.name, Item: { pk: 'maps', sk: 'odd names', map } });
    const found = Object.entries((await raw('maps', 'odd names'))?.map);
    expect(found.sort()).toEqual(Object.entries(map));
  });

  it('puts only if absent, and returns the existing item', async () => {
    const store = storeOf(target);
    await store.put(message, messageOf('m1'), { ifAbsent: true });
    const second = store.put(message, messageOf('m1', { title: 'Other' }), { ifAbsent: true });
    await expect(second).rejects.toMatchObject({
      code: 'table.condition_failed',
      details: { current: { kind: 'UM', title: 'Message m1', status: 'sent', ...ann, id: 'm1' } },
    });
    expect((await store.get(message, { ...ann, id: 'm1' }))?.title).toBe('Message m1');
  });

  it('puts only over the version it was given', async () => {
    const store = storeOf(target);
    const first = await store.put(user, { tenant_key: 'acme', uid: 'ann', name: 'Ann' });
    expect(first.version).toBe(1);
    const second = await store.put(user, { ...first, name: 'Anna' }, { ifVersion: 1 });
    expect(second).toMatchObject({ name: 'Anna', version: 2 });
    await expect(store.put(user, { ...first, name: 'Lost' }, { ifVersion: 1 })).rejects.toSatisfy(
      error => tableErrors.includes(error) && error.code === 'table.condition_failed',
    );
    expect((await store.get(user, { tenant_key: 'acme', uid: 'ann' }))?.name).toBe('Anna');
  });

  it('returns the old image of a put and a delete', async () => {
    const store = storeOf(target);
    expect(await store.put(message, messageOf('m1'), { returns: 'old' })).toBeUndefined();
    const old = await store.put(message, messageOf('m1', { title: 'New' }), { returns: 'old' });
    expect(old?.title).toBe('Message m1');
    expect((await store.delete(message, { ...ann, id: 'm1' }))?.title).toBe('New');
    expect(await store.delete(message, { ...ann, id: 'm1' })).toBeUndefined();
    await expect(store.delete(message, { ...ann, id: 'm1' }, { ifPresent: true })).rejects.toMatchObject({
      code: 'table.condition_failed',
    });
  });

  it('deletes only if the condition holds', async () => {
    const store = storeOf(target);
    await store.put(message, messageOf('m1'));
    await expect(
      store.delete(message, { ...ann, id: 'm1' }, { if: { status: 'draft' } }),
    ).rejects.toMatchObject({
      code: 'table.condition_failed',
      details: { current: { title: 'Message m1' } },
    });
    await store.delete(message, { ...ann, id: 'm1' }, { if: { status: is.oneOf(['draft', 'sent']) } });
    expect(await store.get(message, { ...ann, id: 'm1' })).toBeUndefined();
  });

  it('distinguishes entities with the same key', async () => {
    const store = storeOf(target);
    const key = { ...ann, id: 'm1' };
    await store.put(receipt, { ...key, readat: 5, expiredat: nowSeconds + 60 });
    expect(await raw('t#acmeU#ann#main', 'm#m1')).toEqual({
      pk: 't#acmeU#ann#main',
      sk: 'm#m1',
      readat: 5,
      expiredat: nowSeconds + 60,
    });
    expect(await store.get(message, key)).toBeUndefined();
    expect(await store.get(receipt, key)).toEqual({ ...key, readat: 5, expiredat: nowSeconds + 60 });
    await expect(store.update(message, key, { set: { title: 'x' } })).rejects.toMatchObject({
      code: 'table.condition_failed',
    });
    await expect(store.delete(message, key)).rejects.toMatchObject({ code: 'table.condition_failed' });
    await store.put(message, messageOf('m1'));
    expect(await store.get(receipt, key)).toBeUndefined();
  });

  it('treats an expired item as absent', async () => {
    const store = storeOf(target);
    const later = storeOf(target, { clock: manualClock(nowMs + 60_000) });
    await store.put(message, messageOf('m1', { expiredat: nowSeconds + 60 }));
    const key = { ...ann, id: 'm1' };
    expect(await store.get(message, key)).toBeDefined();
    expect(await later.get(message, key)).toBeUndefined();
    await expect(later.update(message, key, { set: { title: 'x' } })).rejects.toMatchObject({
      code: 'table.condition_failed',
    });
    await expect(store.put(message, messageOf('m1'), { ifAbsent: true })).rejects.toThrow();
    await later.put(message, messageOf('m1', { title: 'Again' }), { ifAbsent: true });
    expect((await later.get(message, key))?.title).toBe('Again');
  });

  it('counts capacity by access pattern', async () => {
    const ledger = createLedger();
    const store = storeOf(target, { ledger });
    await store.put(total, ann, { pattern: 'start counting' });
    await store.put(total, ann, { pattern: 'start counting' });
    await store.get(total, ann);
    expect(ledger.entries()).toEqual([
      { pattern: 'start counting', table: inbox.name, calls: 2, readUnits: 0, writeUnits: 2 },
      { pattern: 'get total', table: inbox.name, calls: 1, readUnits: 0.5, writeUnits: 0 },
    ]);
  });
}
