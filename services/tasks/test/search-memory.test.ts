import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { seededRandom } from '@stak/kit';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTask } from '../src/edit/create.ts';
import { createIndexCache } from '../src/lists/index-cache.ts';
import { createSearch, type Searcher } from '../src/lists/search.ts';
import { createSearchIndex, type SearchIndex } from '../src/lists/search-index.ts';
import { scanTasks } from '../src/lists/search-scan.ts';
import type { Task } from '../src/schema.ts';
import { type Fixture, openTasks } from './tasks-fixture.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
// One collection may leave what the test before has just let go of: it is repeated until nothing more is found.
async function heapBytes(): Promise<number> {
  for (let beforeBytes = Number.POSITIVE_INFINITY; ; ) {
    await setImmediate();
    collectGarbage();
    const { heapUsed } = process.memoryUsage();
    if (heapUsed > beforeBytes - 100_000) return heapUsed;
    beforeBytes = heapUsed;
  }
}

const idOf = (i: number) => `tsk_${String(i).padStart(24, '0')}`;
const taskOf = (i: number, description: string, title = 'x') =>
  ({ user_id: 'usr_a', task_id: idOf(i), title, description }) as Task;
const words = (count: number, wordAt: (k: number) => string) =>
  Array.from({ length: count }, (_, k) => wordAt(k)).join(' ');

const random = seededRandom(1);

// Texts that take as much memory as possible for each character that is stored, each in its own way.
const hostile: [name: string, tasks: number, describe: (i: number) => string][] = [
  ['short words, all different', 150, i => words(330, k => (i * 330 + k).toString(36))],
  ['random words', 150, () => words(250, () => random().toString(36).slice(2, 9))],
  [
    'words that split every node of the tree',
    300,
    i => words(90, k => (i * 90 + k).toString(2).padStart(20, '0')),
  ],
  [
    'words of two bytes for each letter',
    300,
    i => words(140, k => `一${(i * 140 + k).toString(36)}丁丂七丄丅`),
  ],
  ['long words', 600, i => words(33, k => `${(i * 33 + k).toString(36)}${'x'.repeat(56)}`)],
  ['the same words in every task', 600, () => words(330, k => k.toString(36))],
  ['one word each, of a long text', 2000, i => `${i.toString(36)}abcdefghijklm ${'-'.repeat(1900)}`],
  ['no words', 20_000, () => ''],
];

describe('an index', () => {
  it.each(hostile)(
    'takes no more memory than it says, but not much less either: %s',
    async (_, tasks, textOf) => {
      const before = await heapBytes();
      const index = createSearchIndex('epoch', 0);
      for (let i = 0; i < tasks; i++) index.put(taskOf(i, textOf(i)));
      const grown = (await heapBytes()) - before;
      expect(grown).toBeLessThan(index.bytes());
      expect(grown).toBeGreaterThan(index.bytes() / 3);
    },
  );

  it('does not forget what edits have left in memory', async () => {
    const before = await heapBytes();
    const index = createSearchIndex('epoch', 0);
    // The words of the first task stay in use by the second when the first one gets new ones.
    for (let i = 0; i < 300; i++) {
      const text = words(330, k => (i * 330 + k).toString(36));
      index.put(taskOf(0, text));
      index.put(taskOf(1 + (i % 5), text));
    }
    expect((await heapBytes()) - before).toBeLessThan(index.bytes());
  });
});

const word = fc.constantFrom(
  'milk',
  'mlik',
  'milks',
  'honey',
  'hony',
  'kitchen',
  'ktichne',
  'café',
  'a',
  'ab',
  'tea',
);
const text = fc.array(word, { maxLength: 6 }).map(some => some.join(' '));
const query = fc.array(word, { minLength: 1, maxLength: 3 }).map(some => some.join(' '));

it('a search that reads all tasks finds the same as an index, in the same order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(text, text), { maxLength: 40 }), query, async (texts, q) => {
      const tasks = texts.map(([title, description], i) => taskOf(i, description, title));
      const index = createSearchIndex('epoch', 0);
      for (const task of tasks) index.put(task);
      // Long texts end a chunk, so there is more than one.
      const filler = Array.from({ length: 12 }, (_, i) =>
        taskOf(
          1000 + i,
          words(330, k => `z${i * 330 + k}q`),
        ),
      );
      for (const task of filler) index.put(task);
      const read = async function* () {
        yield* [...tasks.slice(0, 20), ...filler, ...tasks.slice(20)];
      };
      const [found, scanned] = [await index.find(q), await scanTasks(read(), q)];
      expect(scanned.map(one => one.task_id)).toEqual(found.map(one => one.task_id));
      for (const [i, { score }] of scanned.entries()) expect(score).toBeCloseTo(found[i]!.score, 9);
    }),
    { numRuns: 30 },
  );
});

describe('a process', () => {
  let f: Fixture;
  const users = 4;
  const attacker = (i: number): Searcher => ({ userId: `evil:u${i}`, accountId: 'usr_evil' });
  const victim: Searcher = { userId: 'usr_good', accountId: 'usr_good' };
  const budget = { bytes: 20_000_000, accountBytes: 8_000_000 };

  beforeAll(async () => {
    f = await openTasks();
    for (let user = 0; user < users; user++)
      for (let i = 0; i < 60; i++) {
        const description = words(330, k => ((user * 60 + i) * 330 + k).toString(36).padStart(5, 'q'));
        const input = { title: `Needle ${i}`, description, status: 'pending' as const };
        await createTask(f.writing, attacker(user).userId, input);
      }
    await createTask(f.writing, victim.userId, { title: 'Buy milk', status: 'pending' });
  });
  afterAll(() => f.close());

  it('keeps within its budget, whatever words an account stores for however many users', async () => {
    const search = createSearch(f.writing, budget);
    await search.find(victim, 'milk');
    const before = await heapBytes();
    for (let round = 0; round < 2; round++)
      for (let user = 0; user < users; user++) {
        expect(await search.find(attacker(user), 'needle')).toHaveLength(60);
        expect(search.bytes()).toBeLessThanOrEqual(budget.accountBytes + 100_000);
      }
    expect((await heapBytes()) - before).toBeLessThan(budget.accountBytes);
    f.ledger.clear();
    expect(await search.find(victim, 'mlik')).toHaveLength(1);
    expect(f.ledger.entries().map(one => one.pattern)).toEqual(['tally']); // it was not pushed out
  });

  it('finds new tasks of a user whose index does not fit', async () => {
    const search = createSearch(f.writing, budget);
    await search.find(attacker(0), 'needle');
    await createTask(f.writing, attacker(0).userId, { title: 'Haystack', status: 'pending' });
    expect(await search.find(attacker(0), 'haystac')).toHaveLength(1);
    expect(search.users()).toBe(0);
  });
});

it('an account that takes less than an equal share of the memory loses nothing to others', () => {
  const sizes = fc.array(
    fc.record({ account: fc.nat(4), user: fc.nat(6), bytes: fc.integer({ min: 1, max: 60 }) }),
  );
  fc.assert(
    fc.property(sizes, all => {
      const cache = createIndexCache({ bytes: 100, accountBytes: 60 });
      const kept = new Map<string, Map<string, number>>(); // without any eviction
      for (const { account, user, bytes } of all) {
        const [accountId, userId] = [`a${account}`, `a${account}:u${user}`];
        cache.keep(userId, accountId, { bytes: () => bytes } as SearchIndex);
        kept.set(accountId, (kept.get(accountId) ?? new Map()).set(userId, bytes));
        expect(cache.bytes()).toBeLessThanOrEqual(100);
        for (const [id, users] of kept) {
          const sum = [...users.values()].reduce((a, b) => a + b, 0);
          if (sum > 100 / 5)
            kept.set(id, new Map([...users].filter(([one]) => cache.get(one)))); // may lose some
          else for (const one of users.keys()) expect(cache.get(one)).toBeDefined();
        }
      }
    }),
  );
});
