import { expect, it } from 'vitest';
import { type DynamoClient, ref, write } from '../../src/index.ts';
import { message, messagesOfUser, total, user } from '../example-table.ts';
import { ann, impatientClock, messageOf, storeOf, type Target } from './target.ts';

const number = (n: number) => String(n).padStart(3, '0');

export function testBatches(target: () => Target): void {
  it('writes and reads in chunks, with results in the order of the keys', async () => {
    const store = storeOf(target);
    const steps = Array.from({ length: 120 }, (_, n) => write.put(message, messageOf(number(n))));
    await store.batchWrite([...steps, write.put(total, { ...ann, published: 120 })]);
    const refs = Array.from({ length: 130 }, (_, n) => ref(message, { ...ann, id: number(n) }));
    const found = await store.batchGet([...refs, refs[0]!], { consistent: true });
    expect(found).toHaveLength(131);
    expect(found[119]?.title).toBe('Message 119');
    expect(found[120]).toBeUndefined();
    expect(found[130]).toEqual(found[0]);
    const [sum, nobody] = await store.batchGet([
      ref(total, ann),
      ref(user, { tenant_key: 'acme', uid: 'x' }),
    ]);
    expect(sum?.published).toBe(120);
    expect(nobody).toBeUndefined();
  });

  it('makes the later of two writes to one item', async () => {
    const store = storeOf(target);
    await store.batchWrite([
      write.put(message, messageOf('m1', { title: 'first' })),
      write.put(message, messageOf('m1', { title: 'second' })),
    ]);
    expect((await store.get(message, { ...ann, id: 'm1' }))?.title).toBe('second');
  });

  it('refuses what a batch cannot do', async () => {
    const store = storeOf(target);
    const refused = { code: 'table.item_refused' };
    await expect(
      store.batchWrite([write.put(message, messageOf('m1'), { ifAbsent: true })]),
    ).rejects.toMatchObject(refused);
    await expect(store.batchWrite([write.update(total, ann, { add: { read: 1 } })])).rejects.toMatchObject(
      refused,
    );
  });

  it('retries unprocessed items', async () => {
    const { client } = target();
    const clock = impatientClock();
    let reads = 0;
    let writes = 0;
    // Takes half of each batch the first times, as a throttled DynamoDB does.
    const hesitant: DynamoClient = {
      ...client,
      async batchWrite(input) {
        const [[table, requests]] = Object.entries(input.RequestItems) as [[string, object[]]];
        if (writes++ > 2) return client.batchWrite(input);
        const half = Math.floor(requests.length / 2);
        await client.batchWrite({ RequestItems: { [table]: requests.slice(0, half) } });
        return { UnprocessedItems: { [table]: requests.slice(half) } };
      },
      async batchGet(input) {
        const [[table, request]] = Object.entries(input.RequestItems) as [[string, { Keys: object[] }]];
        if (reads++ > 2) return client.batchGet(input);
        const half = Math.floor(request.Keys.length / 2);
        const answer = await client.batchGet({
          RequestItems: { [table]: { Keys: request.Keys.slice(0, half) } },
        });
        return { ...answer, UnprocessedKeys: { [table]: { Keys: request.Keys.slice(half) } } };
      },
    };
    const store = storeOf(target, { client: hesitant, clock });
    await store.batchWrite(Array.from({ length: 20 }, (_, n) => write.put(message, messageOf(number(n)))));
    expect(clock.slept).toHaveLength(3);
    expect((await storeOf(target).query(messagesOfUser, ann)).items).toHaveLength(20);
    const refs = Array.from({ length: 20 }, (_, n) => ref(message, { ...ann, id: number(n) }));
    const found = await store.batchGet(refs);
    expect(found.every(item => item !== undefined)).toBe(true);
    expect(clock.slept).toHaveLength(6);
  });

  it('reports how much is left when it gives up', async () => {
    const stuck: DynamoClient = {
      ...target().client,
      batchWrite: async input => ({ UnprocessedItems: input.RequestItems }),
    };
    const store = storeOf(target, { client: stuck, clock: impatientClock() });
    await expect(
      store.batchWrite([write.put(message, messageOf('m1')), write.put(message, messageOf('m2'))]),
    ).rejects.toMatchObject({ code: 'table.busy', details: { left: 2 } });
  });
}
