import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createTask } from '../src/edit/create.ts';
import { deleteTask } from '../src/edit/trash.ts';
import { updateTask } from '../src/edit/update.ts';
import type { WireTask } from '../src/index.ts';
import { createSearch } from '../src/lists/search.ts';
import { eventually, type Fixture, openTasks, startConsumers } from './tasks-fixture.ts';

let f: Fixture;
beforeAll(async () => {
  f = await openTasks();
  for (const task of [
    { title: 'Buy oat milk', description: 'Two bottles, from the market' },
    { title: 'Call the dentist', description: 'About the milk tooth' },
    { title: 'Prepare the quarterly report', category: 'work', labels: ['finance'] },
    { title: 'Renew passport', description: 'Needs two photographs' },
    { title: 'Réserver un café', category: 'Paris' },
    { title: 'Restaurant for Friday' },
    { title: 'Reporting bug in the export', category: 'work' },
  ])
    await f.create(task);
});
afterAll(() => f.close());

const search = async (q: string, as = 'ann') => {
  const { data } = await f.ok<{ data: WireTask[] }>('GET', `/v1/tasks/search?q=${encodeURIComponent(q)}`, {
    as,
  });
  return data.map(one => one.title);
};

describe('search', () => {
  it('yields to other work while it indexes long texts', async () => {
    const other = await openTasks();
    onTestFinished(other.close);
    const description = 'word '.repeat(400);
    for (let i = 0; i < 50; i++) await other.create({ title: `Task ${i}`, description });
    const later = vi.spyOn(globalThis, 'setImmediate');
    onTestFinished(() => later.mockRestore());
    await other.ok('GET', '/v1/tasks/search?q=task');
    const pauses = later.mock.calls.filter(([work]) => work.name === 'continueOne');
    expect(pauses.length).toBeGreaterThan(3);
  });

  it.each([
    ['milk', ['Buy oat milk', 'Call the dentist']], // the title counts for more
    ['MILK market', ['Buy oat milk']],
    ['pass', ['Renew passport']],
    ['pasport', ['Renew passport']],
    ['dentits', ['Call the dentist']],
    ['cafe', ['Réserver un café']],
    ['reserver', ['Réserver un café']],
    ['finance', ['Prepare the quarterly report']],
    ['work report', ['Prepare the quarterly report', 'Reporting bug in the export']],
    ['zebra', []],
    ['*', []],
    ['"); DROP TABLE', []],
  ])('%s', async (query, titles) => {
    expect(await search(query)).toEqual(titles);
  });

  it('ranks whole words before prefixes, and prefixes before misspellings', async () => {
    for (const title of ['Planet', 'Plan', 'Plank', 'Plam']) await f.create({ title }, { as: 'endUser' });
    const found = await search('plan', 'endUser');
    expect(found[0]).toBe('Plan');
    expect(found.at(-1)).toBe('Plam');
    expect(found).toHaveLength(4);
  });

  it('finds earlier tasks, and none of other users', async () => {
    const { task_id } = await f.create({ title: 'Xylophone lesson' });
    expect(await search('xylophone')).toEqual(['Xylophone lesson']);
    expect(await search('xylophone', 'bob')).toEqual([]);
    await f.ok('PATCH', `/v1/tasks/${task_id}`, { send: { title: 'Violin lesson' } });
    expect(await search('xylophone')).toEqual([]);
    expect(await search('violin')).toEqual(['Violin lesson']);
    await f.ok('DELETE', `/v1/tasks/${task_id}`);
    expect(await search('violin')).toEqual([]);
  });

  it('pages through its results without repeating them', async () => {
    for (let i = 0; i < 7; i++) await f.create({ title: `Page ${i}` }, { as: 'bob' });
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const path = `/v1/tasks/search?q=page&limit=3${cursor}`;
      const page = await f.ok<{ data: WireTask[]; next_cursor: string | null }>('GET', path, { as: 'bob' });
      seen.push(...page.data.map(one => one.title));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(seen.toSorted()).toEqual(Array.from({ length: 7 }, (_, i) => `Page ${i}`));
  });
});

describe('the index', () => {
  const of = (userId: string) => ({ userId, accountId: userId });
  const add = (user_id: string, title: string) =>
    createTask(f.writing, user_id, { title, status: 'pending' });

  it('follows its user by change number, and reads only what it missed', async () => {
    const index = createSearch(f.writing);
    for (let i = 0; i < 20; i++) await add('usr_s1', `alpha ${i}`);
    expect(await index.find(of('usr_s1'), 'alpha')).toHaveLength(20);
    const { task_id } = await add('usr_s1', 'alpha beta');
    await updateTask(f.writing, 'usr_s1', task_id, { title: 'gamma' });
    f.ledger.clear();
    expect(await index.find(of('usr_s1'), 'gamma')).toHaveLength(1);
    expect(
      f.ledger
        .entries()
        .map(one => one.pattern)
        .sort(),
    ).toEqual(['changes of a user', 'tally', 'tasks by id']);
    f.ledger.clear();
    await index.find(of('usr_s1'), 'gamma');
    expect(f.ledger.entries().map(one => one.pattern)).toEqual(['tally']);
  });

  it('of a new process is built from the table, and is the same', async () => {
    const [one, another] = [createSearch(f.writing), createSearch(f.writing)];
    await add('usr_s2', 'first');
    await one.find(of('usr_s2'), 'first');
    const { task_id } = await add('usr_s2', 'second');
    await deleteTask(f.writing, 'usr_s2', task_id);
    await add('usr_s2', 'second again');
    for (const query of ['first', 'second', 'again'])
      expect((await one.find(of('usr_s2'), query)).map(found => found.task_id)).toEqual(
        (await another.find(of('usr_s2'), query)).map(found => found.task_id),
      );
  });

  it('is rebuilt if it is too far behind, or its user was replaced', async () => {
    const index = createSearch(f.writing);
    await add('usr_s3', 'old news');
    await index.find(of('usr_s3'), 'old');
    await add('usr_s3', 'missed news');
    await f.clock.advance(31 * 24 * 60 * 60 * 1000);
    await add('usr_s3', 'new news');
    expect(await index.find(of('usr_s3'), 'news')).toHaveLength(3);
    while ((await f.tasks.eraser.eraseAccount('usr_s3')) === 'more');
    expect(await index.find(of('usr_s3'), 'news')).toEqual([]);
    await add('usr_s3', 'fresh news');
    expect(await index.find(of('usr_s3'), 'news')).toHaveLength(1);
  });

  it('is evicted when memory is short, least recently used first', async () => {
    const index = createSearch(f.writing, { bytes: 40_000, accountBytes: 40_000 });
    for (const user of ['usr_m1', 'usr_m2', 'usr_m3'])
      await add(user, `four words for ${user.slice(-1)}! ${'more and other words '.repeat(3)}`);
    for (const user of ['usr_m1', 'usr_m2', 'usr_m1', 'usr_m3']) await index.find(of(user), 'four');
    expect([index.users(), index.bytes() <= 40_000]).toEqual([2, true]);
    f.ledger.clear();
    await index.find(of('usr_m1'), 'four');
    expect(f.ledger.entries().map(one => one.pattern)).toEqual(['tally']);
  });

  it('is removed with its user, even if it is being built', async () => {
    const index = createSearch(f.writing);
    for (let i = 0; i < 3; i++) await add('usr_s4', `private ${i}`);
    const finding = index.find(of('usr_s4'), 'private');
    await index.forget('usr_s4');
    expect([(await finding).length, index.users()]).toEqual([3, 0]);
  });

  it('is updated by the stream', async () => {
    const stop = startConsumers(f);
    await f.create({ title: 'Streamed first' });
    await search('streamed');
    await f.create({ title: 'Streamed second' });
    await eventually(() => {
      f.ledger.clear();
      return search('streamed').then(() =>
        f.ledger.entries().every(one => one.pattern !== 'changes of a user'),
      );
    });
    expect(await search('streamed second')).toEqual(['Streamed second']);
    await stop();
  });
});
