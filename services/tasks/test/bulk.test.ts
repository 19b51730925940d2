import { createMemoryIdempotency, type IdempotencyStore } from '@stak/http';
import type { DynamoClient } from '@stak/table';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BulkItem, runBulk } from '../src/edit/bulk.ts';
import type { WireTask } from '../src/index.ts';
import { embedded, type Fixture, openTasks } from './tasks-fixture.ts';

type Result = { task_id: string; ok: boolean; code?: string; task?: WireTask };

let f: Fixture;
let isBusy: (input: object) => boolean;
beforeEach(async () => {
  isBusy = () => false;
  const backend = await embedded();
  f = await openTasks({
    ...backend,
    wrap: failing,
    idempotency: unfinished(createMemoryIdempotency(backend)),
  });
});
afterEach(() => f.close());

// A store that is unavailable for some requests, and says so at once.
const failing = (client: DynamoClient): DynamoClient => {
  const unless =
    <Input extends object, Output>(send: (input: Input) => Promise<Output>) =>
    async (input: Input): Promise<Output> => {
      if (isBusy(input)) throw Object.assign(new Error('Not here'), { name: 'StoreMovedException' });
      return send(input);
    };
  return { ...client, get: unless(client.get), transactWrite: unless(client.transactWrite) };
};

// No response is stored, as if the process were killed before: every request is made again.
const unfinished = (store: IdempotencyStore): IdempotencyStore => ({
  async begin(claim) {
    const begun = await store.begin(claim);
    if (begun.kind !== 'started') return begun;
    const { abandon } = begun.attempt;
    return { ...begun, attempt: { finish: abandon, abandon } };
  },
});

const bulk = async (items: readonly BulkItem[], key?: string) => {
  const response = await f.call('POST', '/v1/tasks/bulk', { send: { items }, key });
  const { results = [] } = (await response.json()) as { results?: Result[] };
  const codes = results.map(result => result.code ?? result.ok);
  return { status: response.status, retryAfter: response.headers.get('retry-after'), results, codes };
};
const afterOneWrite = () => {
  let writes = 0;
  return (input: object) => 'TransactItems' in input && ++writes > 1;
};
const total = async () => (await f.ok<{ total: number }>('GET', '/v1/tasks/counts')).total;
const deleted = async (title: string) => {
  const task = await f.create({ title });
  await f.ok('DELETE', `/v1/tasks/${task.task_id}`);
  return task;
};

// Makes one item of each kind. The last one needs a transaction of its own.
async function everyKind(): Promise<BulkItem[]> {
  const weekly = await f.create({ title: 'Weekly', due_date: '2026-03-02', recurrence: 'FREQ=WEEKLY' });
  const first = await f.create({ title: 'First' });
  return [
    { op: 'update', task_id: weekly.task_id, set: { status: 'completed' } },
    { op: 'update', task_id: first.task_id, if_match: '"v1"', set: { title: 'Second' } },
    { op: 'delete', task_id: (await f.create({ title: 'Deleted' })).task_id },
    { op: 'delete', task_id: 'tsk_000000000000000000000000' },
    { op: 'restore', task_id: (await deleted('Restored')).task_id },
  ];
}
const allOnce = [true, true, true, 'tasks.task_not_found', true];

describe('a bulk request with an Idempotency-Key', () => {
  it('is done once, and has the same results again if its response was lost', async () => {
    const items = await everyKind();
    const first = await bulk(items, 'k');
    expect([first.status, first.codes]).toEqual([200, allOnce]);
    expect(await total()).toBe(4);
    expect(await bulk(items, 'k')).toEqual(first);
    expect(await total()).toBe(4);
  });

  it('goes on where it stopped when the store was unavailable', async () => {
    const items = await everyKind();
    isBusy = afterOneWrite();
    expect(await bulk(items, 'k')).toMatchObject({ status: 503, retryAfter: expect.any(String) });
    isBusy = () => false;
    const again = await bulk(items, 'k');
    expect([again.status, again.codes]).toEqual([200, allOnce]);
    expect(again.results[1]!.task).toMatchObject({ title: 'Second', version: 2 });
    expect(await total()).toBe(4);
  });

  it('is another one if its items are others', async () => {
    const [one, two] = [await f.create({ title: 'One' }), await f.create({ title: 'Two' })];
    for (const { task_id } of [one, two])
      expect((await bulk([{ op: 'delete', task_id }], 'k')).codes).toEqual([true]);
    expect(await total()).toBe(0);
  });

  it('is done once by two processes at the same time', async () => {
    const items = await everyKind();
    const other = await openTasks(f);
    const runs = [f, other].map(one => runBulk(one.writing, 'usr_ann', items, 'b1'));
    for (const results of await Promise.all(runs))
      expect(results.map(result => (result.ok ? true : result.code))).toEqual(allOnce);
    expect(await total()).toBe(4);
  });
});

describe('a bulk request, when the store is unavailable', () => {
  const isOfTrash = (input: object) => JSON.stringify(input).includes('TRASH#');

  it.each([undefined, 'k'])('fails if nothing was written (key %s)', async key => {
    const items: BulkItem[] = [{ op: 'restore', task_id: (await deleted('Restored')).task_id }];
    isBusy = isOfTrash;
    expect(await bulk(items, key)).toMatchObject({ status: 503, retryAfter: expect.any(String) });
    isBusy = () => false;
    expect(await bulk(items, key)).toMatchObject({ status: 200, codes: [true] });
  });

  it('says which items are left, without a key', async () => {
    const { task_id } = await f.create({ title: 'First' });
    const left = await deleted('Left');
    isBusy = afterOneWrite();
    const { status, codes } = await bulk([
      { op: 'update', task_id, set: { title: 'Second' } },
      { op: 'restore', task_id: left.task_id },
    ]);
    expect([status, codes]).toEqual([200, [true, 'table.busy']]);
  });
});
