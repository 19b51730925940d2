import { manualClock } from '@stak/kit';
import { expect, it } from 'vitest';
import { createLedger, entityOf, readStored, type StoredQuery } from '../../src/index.ts';
import { inbox, message, receipt, total, user } from '../example-table.ts';
import { ann, messageOf, nowMs, nowSeconds, storeOf, type Target } from './target.ts';

const partition = 't#acmeU#ann#main';

// Items as they lie in the table, of whatever entity.
export function testStored(target: () => Target): void {
  const ledger = createLedger();
  const read = (query: Partial<StoredQuery>) =>
    readStored(
      { client: target().client, clock: manualClock(nowMs), ledger },
      inbox,
      { limit: 50, ...query },
      'a look',
    );
  const namesOf = (items: readonly object[], index?: string) =>
    items.map(item => entityOf(inbox, item, index)?.name);

  async function fill(): Promise<void> {
    const store = storeOf(target);
    await store.put(total, { ...ann, published: 1 });
    await store.put(message, messageOf('001', { shard: 1, dueat: 10 }));
    await store.put(receipt, { ...ann, id: '002', readat: 1, expiredat: nowSeconds - 9 });
    await store.put(user, { tenant_key: 'acme', uid: 'ann', name: 'Ann', email: 'ann@example.com' });
  }

  it('are in the order of their sort keys, including expired ones', async () => {
    await fill();
    const { items, end, read: count, units } = await read({ partition });
    expect(items.map(item => [item.pk, item.sk])).toEqual([
      [partition, 'c#*'],
      [partition, 'm#001'],
      [partition, 'm#002'],
    ]);
    expect(namesOf(items)).toEqual(['total', 'message', 'receipt']);
    expect({ end, count, units }).toEqual({ end: undefined, count: 3, units: 0.5 });
    const newest = await read({ partition, sortPrefix: 'm#', newestFirst: true });
    expect(namesOf(newest.items)).toEqual(['receipt', 'message']);
    expect(ledger.entries()).toMatchObject([{ pattern: 'a look', calls: 2, readUnits: 1 }]);
  });

  it('are read page by page, in one partition or in all of them', async () => {
    await fill();
    for (const query of [{}, { partition }, { index: 'due' }, { index: 'due', partition: 'DUE#1' }]) {
      const whole = await read(query);
      const found: object[] = [];
      let start: object | undefined;
      do {
        const page = await read({ ...query, limit: 1, ...(start && { start }) });
        found.push(...page.items);
        start = page.end;
      } while (start);
      expect(found).toEqual(whole.items);
    }
    expect((await read({})).items).toHaveLength(4);
  });

  it('are recognised in an index without their kind', async () => {
    await fill();
    const user = { pk: 't#acme', sk: 'u#ann', emailpk: 'e#acme#ann%40example.com' };
    // An index may be late.
    await expect.poll(async () => (await read({ index: 'email' })).items).toEqual([user]);
    expect(namesOf([user], 'email')).toEqual(['user']);
    const byStatus = async () => namesOf((await read({ index: 'status', partition })).items, 'status');
    await expect.poll(byStatus).toEqual(['message']);
    expect(namesOf([{ pk: 'x', sk: 'y' }], 'status')).toEqual([undefined]);
  });

  it.each([
    [{ index: 'nowhere' }, 'table.key_refused'],
    [{ index: 'constructor' }, 'table.key_refused'],
    [{ sortPrefix: 'm#' }, 'table.key_refused'],
    [{ index: 'email', partition: 'e#', sortPrefix: 'm#' }, 'table.key_refused'],
    [{ partition: '' }, 'table.key_refused'],
    [{ partition: 'x'.repeat(2049) }, 'table.key_refused'],
    [{ partition, sortPrefix: 'ü'.repeat(513) }, 'table.key_refused'],
    [{ limit: 0 }, 'table.item_refused'],
  ])('cannot be requested with %j', async (query, code) => {
    await expect(read(query)).rejects.toMatchObject({ code });
  });
}
