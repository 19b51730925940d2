import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { WireTask } from '../src/index.ts';
import { embedded, type Fixture, openTasks, overTheSdk } from './tasks-fixture.ts';

const suites = [
  { name: 'the embedded engine', open: embedded },
  { name: 'the AWS SDK', open: overTheSdk },
];

describe.each(suites)('an Idempotency-Key, over $name', ({ open }) => {
  let f: Fixture;
  let other: Fixture;
  beforeAll(async () => {
    const backend = await open();
    f = await openTasks(backend);
    other = await openTasks(backend); // another process, as far as this one knows
  });
  afterAll(() => f.close());

  const total = async (as = 'ann') =>
    (await f.ok<{ total: number }>('GET', '/v1/tasks/counts', { as })).total;

  it('creates one task for fifty concurrent requests, and responds alike to all', async () => {
    const before = await total();
    const send = { title: 'Once', category: 'keys', description: 'äöü 🏠' };
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (i % 2 ? f : other).call('POST', '/v1/tasks', { send, key: 'fifty' }),
      ),
    );
    const bodies = new Set(await Promise.all(responses.map(response => response.text())));
    expect(new Set(responses.map(response => response.status))).toEqual(new Set([201]));
    expect(bodies.size).toBe(1);
    expect(responses.filter(response => !response.headers.has('idempotency-replayed'))).toHaveLength(1);
    expect(new Set(responses.map(response => response.headers.get('location'))).size).toBe(1);
    expect(await total()).toBe(before + 1);
  });

  it('replays the original response byte for byte, even if the task has changed since', async () => {
    const send = { title: 'First' };
    const first = await f.call('POST', '/v1/tasks', { send, key: 'replay' });
    const text = await first.text();
    const { task_id } = JSON.parse(text) as WireTask;
    await f.ok('PATCH', `/v1/tasks/${task_id}`, { send: { title: 'Second' } });
    await f.ok('DELETE', `/v1/tasks/${task_id}`);
    const again = await f.call('POST', '/v1/tasks', { send, key: 'replay' });
    expect(await again.text()).toBe(text);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    for (const name of ['etag', 'location', 'content-type'])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
  });

  // Whether any item of the table says so.
  const stored = async (text: string) => {
    const { Items = [] } = await f.client.scan({ TableName: 'todo-app-data', ConsistentRead: true });
    return JSON.stringify(Items).includes(text);
  };

  it.each(['/v1/tasks/trash', '/v1/tasks/trash/{id}'])(
    'stays taken after DELETE %s, without the text of the task',
    async path => {
      const send = { title: 'Deleted for good' };
      const { task_id } = await f.create(send, { key: path });
      await f.ok('DELETE', `/v1/tasks/${task_id}`);
      expect(await stored('Deleted for good')).toBe(true);
      await f.ok('DELETE', path.replace('{id}', task_id));
      expect(await stored('Deleted for good')).toBe(false);
      const before = await total();
      const again = await f.call('POST', '/v1/tasks', { send, key: path });
      expect([again.status, await again.json()]).toMatchObject([410, { code: 'tasks.task_purged' }]);
      expect(await total()).toBe(before);
    },
  );

  it('belongs to its user and its request', async () => {
    await f.create({ title: 'Mine' }, { key: 'shared' });
    const theirs = await f.call('POST', '/v1/tasks', { as: 'bob', send: { title: 'Theirs' }, key: 'shared' });
    expect([theirs.status, theirs.headers.has('idempotency-replayed')]).toEqual([201, false]);
    const another = await f.call('POST', '/v1/tasks', { send: { title: 'Another' }, key: 'shared' });
    expect(another.status).toBe(422);
    expect(await another.json()).toMatchObject({ code: 'http.idempotency_mismatch' });
    const odd = await f.call('POST', '/v1/tasks', { send: { title: 'x' }, key: 'x'.repeat(256) });
    expect(odd.status).toBe(400);
  });

  it('is not used up by a refused request', async () => {
    const send = { title: 'x', parent_id: 'tsk_000000000000000000000000' };
    expect((await f.call('POST', '/v1/tasks', { send, key: 'refused' })).status).toBe(409);
    expect((await f.call('POST', '/v1/tasks', { send: { title: 'x' }, key: 'refused' })).status).toBe(201);
  });

  it('expires after 24 hours, to the second, whenever it is removed', async () => {
    const { task_id } = await f.create({ title: 'Daily' }, { key: 'daily' });
    await f.clock.advance(24 * 60 * 60 * 1000 - 1000);
    expect(await f.create({ title: 'Daily' }, { key: 'daily' })).toMatchObject({ task_id });
    await f.clock.advance(1000);
    expect((await f.create({ title: 'Daily' }, { key: 'daily' })).task_id).not.toBe(task_id);
  });
});

describe('concurrent writes of one user', () => {
  it('are all made and all counted, from any number of processes', async () => {
    const f = await openTasks();
    const others = [f, await openTasks(f), await openTasks(f)];
    const made = await Promise.all(
      Array.from({ length: 45 }, (_, i) => others[i % 3]!.create({ title: `${i}`, priority: 'low' })),
    );
    await Promise.all(
      made.map(({ task_id }, i) =>
        i % 3 === 0
          ? others[1]!.ok('DELETE', `/v1/tasks/${task_id}`)
          : others[i % 2]!.ok('PATCH', `/v1/tasks/${task_id}`, {
              send: { status: 'completed', priority: 'high' },
            }),
      ),
    );
    const counts = await f.ok('GET', '/v1/tasks/counts');
    expect(counts).toMatchObject({
      total: 30,
      by_status: { completed: 30 },
      by_priority: { low: 0, high: 30 },
    });
    const { changed } = await f.ok<{ changed: object[] }>('GET', '/v1/tasks/changes');
    expect(changed).toHaveLength(30);
    await f.close();
  });
});

it('an Idempotency-Key where none is taken is ignored, and the answer says so', async () => {
  const own = await openTasks();
  onTestFinished(own.close);
  const { task_id } = await own.create({ title: 'x' });
  const path = `/v1/tasks/${task_id}`;
  for (const [method, send, status] of [
    ['PATCH', { title: 'y' }, 200],
    ['PATCH', { title: '' }, 400],
    ['DELETE', undefined, 204],
    ['DELETE', undefined, 404],
  ] as const) {
    const response = await own.call(method, path, { send, key: 'k1' });
    expect([response.status, response.headers.get('idempotency-ignored')]).toEqual([status, 'true']);
  }
  const created = await own.call('POST', '/v1/tasks', { send: { title: 'z' }, key: 'k2' });
  expect(created.headers.get('idempotency-ignored')).toBeNull();
});
