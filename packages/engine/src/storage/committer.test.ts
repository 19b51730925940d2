import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTick } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEngine } from '../engine.ts';
import { validationError } from '../errors.ts';
import { createCatalog } from './catalog.ts';
import { createCommitter, readSequence, readSize, type Tx } from './committer.ts';
import { metaKey } from './keys.ts';
import { copyBytes, openStore, type Store } from './store.ts';
import type { Table } from './table.ts';

const keyOf = (name: string) => metaKey(`test-${name}`);
const one = Buffer.from([1]);

let store: Store;
const committed = vi.fn();
const aborted = vi.fn();
const start = () => createCommitter(store, { committed, aborted });
const put = (name: string) => (tx: Tx) => {
  tx.put(keyOf(name), one);
  return name;
};
const stored = (name: string) => store.has(keyOf(name));

beforeEach(() => {
  store = openStore(':memory:');
  committed.mockClear();
  aborted.mockClear();
});
afterEach(() => store.close());

describe('the committer', () => {
  it('answers each piece of work with its own value, in the order of arrival', async () => {
    const { submit } = start();
    const order: string[] = [];
    const names = Array.from({ length: 1200 }, (_, i) => String(i));
    const answers = await Promise.all(
      names.map(async name => {
        const answer = await submit(put(name));
        order.push(answer);
        return answer;
      }),
    );
    expect(answers).toEqual(names);
    expect(order).toEqual(names);
    expect(names.every(stored)).toBe(true);
    // More than one transaction's worth, and far fewer transactions than pieces of work.
    expect(committed.mock.calls.length).toBeGreaterThan(2);
    expect(committed.mock.calls.length).toBeLessThan(10);
  });

  it('lets work read the writes of earlier work', async () => {
    const { submit } = start();
    const counts = await Promise.all(
      Array.from({ length: 20 }, () =>
        submit(tx => {
          const before = store.get(keyOf('count'), bytes => bytes[0]!) ?? 0;
          tx.put(keyOf('count'), Buffer.from([before + 1]));
          return before;
        }),
      ),
    );
    expect(counts).toEqual(Array.from({ length: 20 }, (_, i) => i));
  });

  describe('with work that may wait', () => {
    const journal = {
      prepare: () => undefined,
      beginTx: () => ({
        put() {},
        remove() {},
        finish: () => ({ commit: 1, isWritten: true, isGap: false }),
      }),
      flushesTree: () => false,
      flushed: async () => {},
    };
    const startJournaled = () => createCommitter(store, { committed, aborted }, { journal });
    const iterations = async () => {
      for (let i = 0; i < 20; i++) await nextTick();
    };
    const mayWait = { mayWait: true };

    // The time of the wait passes only where a test says so.
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
    afterEach(() => void vi.useRealTimers());

    it('makes it in the commit of other work, before that', async () => {
      const { submit } = startJournaled();
      const first = submit(put('waiting'), mayWait);
      await iterations();
      expect(stored('waiting')).toBe(false);
      await submit(() => expect(stored('waiting')).toBe(true));
      expect(await first).toBe('waiting');
      expect(committed).toHaveBeenCalledOnce();
    });

    it('makes it alone after a moment', async () => {
      const { submit } = startJournaled();
      const first = submit(put('waiting'), mayWait);
      await iterations();
      vi.advanceTimersByTime(20);
      expect(await first).toBe('waiting');
    });

    it('makes it at once if there is enough of it', async () => {
      const { submit } = startJournaled();
      await Promise.all(Array.from({ length: 8 }, (_, i) => submit(put(String(i)), mayWait)));
      expect(committed).toHaveBeenCalledOnce();
    });

    it('makes it when it is closed', async () => {
      const { submit, close } = startJournaled();
      const first = submit(put('waiting'), mayWait);
      await iterations();
      await close();
      expect(await first).toBe('waiting');
    });

    it('makes other work at once after it, and keeps nothing back without a journal', async () => {
      const { submit } = startJournaled();
      const waiting = submit(put('waiting'), mayWait);
      await submit(put('pressing'));
      await waiting;
      await submit(put('pressing'));
      expect(await start().submit(put('in memory'), mayWait)).toBe('in memory');
    });
  });

  it('says of a full disk that nothing was written, unless it was found after the commit', async () => {
    const noSpace = () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    const journal = (fault: Partial<Parameters<typeof createCommitter>[2] & object>['journal']) =>
      createCommitter(store, { committed, aborted }, { journal: fault });
    const usual = {
      prepare: () => undefined,
      beginTx: () => ({ put() {}, remove() {}, finish() {} }),
      flushesTree: () => false,
      flushed: async () => {},
    };
    const before = journal({
      ...usual,
      beginTx: () => ({
        ...usual.beginTx(),
        finish() {
          throw noSpace();
        },
      }),
    });
    await expect(before.submit(put('a'))).rejects.toMatchObject({
      name: 'StoreFullException',
      statusCode: 507,
    });
    expect(stored('a')).toBe(false);
    const after = journal({ ...usual, flushed: () => Promise.reject(noSpace()) });
    await expect(after.submit(put('a'))).rejects.toMatchObject({ name: 'InternalServerError' });
  });

  it('refuses work that throws before it writes, without affecting others', async () => {
    const { submit } = start();
    const refusal = validationError('no');
    const results = await Promise.allSettled([
      submit(put('a')),
      submit(() => {
        throw refusal;
      }),
      submit(put('b')),
    ]);
    expect(results).toEqual([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason: refusal },
      { status: 'fulfilled', value: 'b' },
    ]);
    expect(stored('a') && stored('b')).toBe(true);
    expect(aborted).not.toHaveBeenCalled();
  });

  it('rolls back a transaction whose work throws after a write, and continues', async () => {
    const { submit } = start();
    await submit(tx => {
      tx.append(1, 1, one);
      tx.addSize(1, 1, 10);
      tx.put(keyOf('first'), one);
    });
    const results = await Promise.allSettled([
      submit(tx => {
        tx.put(keyOf('before'), one);
        tx.remove(keyOf('first'));
        tx.addSize(1, 5, 50);
        tx.append(1, 1, one);
      }),
      submit(tx => {
        tx.put(keyOf('half'), one);
        throw new Error('disk on fire');
      }),
      submit(put('behind')),
    ]);
    for (const result of results.slice(0, 2)) {
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { name: 'InternalServerError', message: expect.stringContaining('disk on fire') },
      });
    }
    expect(aborted).toHaveBeenCalledTimes(1);
    expect(results[2]).toEqual({ status: 'fulfilled', value: 'behind' });
    expect(['before', 'half', 'behind'].filter(stored)).toEqual(['behind']);
    expect(stored('first')).toBe(true);
    expect(readSequence(store)).toBe(1);
    expect(readSize(store, 1)).toEqual({ items: 1, bytes: 10 });
    await expect(submit(put('later'))).resolves.toBe('later');
    expect(stored('later')).toBe(true);
  });

  it('keeps the catalog right when a transaction that changed it is rolled back', async () => {
    const catalog = createCatalog(store);
    const { submit } = createCommitter(store, { committed, aborted: () => catalog.forget() });
    const table = (name: string, id: number) => ({ id, name, indexes: [], streams: [] }) as unknown as Table;
    await submit(tx => catalog.save(tx, table('kept', 1)));
    const failed = submit(tx => {
      catalog.save(tx, table('ghost', 2));
      catalog.drop(tx, catalog.get('kept'));
      // A look inside the transaction reads the version that is about to be lost.
      expect(catalog.list().map(({ name }) => name)).toEqual(['ghost']);
      throw new Error('too late');
    });
    await expect(failed).rejects.toThrow('too late');
    expect(catalog.list().map(({ name }) => name)).toEqual(['kept']);
    // The next change gets the same version number as the one that was lost.
    await submit(tx => catalog.save(tx, table('next', 3)));
    expect(catalog.list().map(({ name }) => name)).toEqual(['kept', 'next']);
    expect(catalog.findById(2)).toBeUndefined();
  });

  it('never loses work that arrives while a batch is being answered', async () => {
    const { submit } = start();
    const chain = async (name: string) => {
      for (let i = 0; i < 30; i++) {
        await submit(put(`${name}-${i}`));
        // Every distance from the answer, in turns of the microtask queue.
        for (let tick = 0; tick < i % 7; tick++) await null;
      }
      return name;
    };
    const names = ['a', 'b', 'c', 'd', 'e'];
    expect(await Promise.all(names.map(chain))).toEqual(names);
  });

  it('accepts work from the listener of a commit', async () => {
    const late: Promise<string>[] = [];
    const { submit } = createCommitter(store, {
      committed: () => void (late.length < 3 && late.push(submit(put(`late-${late.length}`)))),
      aborted,
    });
    await submit(put('first'));
    await expect.poll(() => late).toHaveLength(3);
    expect(await Promise.all(late)).toEqual(['late-0', 'late-1', 'late-2']);
  });

  it('finishes pending work when it closes, and accepts no more', async () => {
    const { submit, close } = start();
    const answers: string[] = [];
    for (const name of ['a', 'b', 'c']) void submit(put(name)).then(answer => answers.push(answer));
    const closing = close();
    await expect(submit(put('d'))).rejects.toMatchObject({ name: 'InternalServerError' });
    await closing;
    expect(answers).toEqual(['a', 'b', 'c']);
    expect(stored('c')).toBe(true);
    expect(stored('d')).toBe(false);
  });

  it('keeps the bytes that were written, not the buffer they came in', async () => {
    const { submit } = start();
    const shared = Buffer.from('first');
    await submit(tx => tx.put(keyOf('x'), shared));
    shared.write('other');
    expect(store.get(keyOf('x'), copyBytes)?.toString()).toBe('first');
  });
});

describe('the engine', () => {
  it('answers pending requests when it closes', async () => {
    const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
    await engine.execute('CreateTable', {
      TableName: 'things',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    });
    const writes = Array.from({ length: 50 }, (_, i) =>
      engine.client.put({ TableName: 'things', Item: { id: String(i) } }),
    );
    await engine.close();
    await expect(Promise.all(writes)).resolves.toHaveLength(50);
    await expect(engine.client.get({ TableName: 'things', Key: { id: '1' } })).rejects.toMatchObject({
      message: 'the engine is closed',
    });
  });
});

it('two stores of one file in a process do not deadlock', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stak-two-stores-'));
  const [one, other] = [openStore(folder), openStore(folder)];
  const commitMany = async (into: Store, name: string) => {
    for (let i = 0; i < 50; i++) {
      await into.commit(() => into.put(keyOf(`${name} ${i}`), Buffer.from([i])));
      await nextTick();
    }
  };
  await Promise.all([
    commitMany(one, 'a'),
    commitMany(other, 'b'),
    commitMany(one, 'c'),
    commitMany(other, 'd'),
  ]);
  for (const name of ['a', 'b', 'c', 'd']) expect(other.has(keyOf(`${name} 49`))).toBe(true);
  await one.close();
  await other.close();
  await rm(folder, { recursive: true });
});
