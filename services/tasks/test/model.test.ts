import { seededRandom } from '@stak/kit';
import { createAdversary, passingFaults } from '@stak/table/adversary';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDays, todayIn } from '../src/dates.ts';
import { listSubtasks } from '../src/edit/order.ts';
import { listTrash } from '../src/edit/trash.ts';
import { type ListRequest, planList, readQueries } from '../src/lists/list.ts';
import { countByPriority, countByStatus, readCounts, taskStatistics } from '../src/lists/statistics.ts';
import * as patterns from '../src/queries/access-patterns.ts';
import { parseFilter } from '../src/queries/filter.ts';
import { priorities, statuses } from '../src/schema.ts';
import { currentTally, readChanges } from '../src/sync/changes.ts';
import { updateUser } from '../src/users/profile.ts';
import { countBy, isOpen, type Model, type Plain, sortedBy } from './model.ts';
import { categories, type Move, make, moves } from './moves.ts';
import { embedded, type Fixture, openTasks, overTheSdk } from './tasks-fixture.ts';

type Replica = { tasks: Map<string, { status: string }>; token?: string };

// A store that fails in every way that passes. STAK_ADVERSARY_SEED gives another history.
const seed = Number(process.env.STAK_ADVERSARY_SEED) || 1;
const adversarial = async () => {
  const backend = await embedded();
  return {
    ...backend,
    isRestless: true,
    client: createAdversary(backend.client, { ...passingFaults, random: seededRandom(seed) }),
  };
};

const suites = [
  // The same histories each time, because planted faults rely on them to be noticed.
  { name: 'a store that fails', open: adversarial, runs: 3, pageItems: 40, seeded: { seed } },
  { name: 'the embedded engine', open: embedded, runs: process.env.STAK_LONG_TESTS ? 30 : 12, pageItems: 3 },
  { name: 'the AWS SDK', open: overTheSdk, runs: process.env.STAK_LONG_TESTS ? 3 : 1, pageItems: 40 },
];

describe.each(suites)('any history of a user, over $name', ({ open, runs, pageItems, seeded }) => {
  let f: Fixture;
  let users = 0;
  beforeAll(async () => {
    itemsAtATime = pageItems;
    f = await openTasks(await open());
  });
  afterAll(() => f.close());

  it('every list, count and token agrees with plain lists', async () => {
    await fc.assert(
      fc.asyncProperty(moves, fc.constantFrom(undefined, 1, 7), async (all, retentionDays) => {
        const user_id = `usr_${++users}`;
        const model: Model = { live: [], trash: [], retentionDays };
        const replica: Replica = { tasks: new Map() };
        if (retentionDays) await updateUser(f.writing, user_id, { retention_days: retentionDays });
        for (const move of all) {
          if (move.kind === 'sync') await sync(f, user_id, replica);
          else await make(f, user_id, model, move as Move);
        }
        await checkLists(f, user_id, model);
        await checkFilters(f, user_id, model);
        await checkCounts(f, user_id, model);
        await sync(f, user_id, replica);
        expect([...replica.tasks.keys()].sort()).toEqual(idsOf(model.live));
        expect(model.live.every(one => replica.tasks.get(one.id)?.status === one.status)).toBe(true);
        const { items } = await listTrash(f.writing, user_id, { limit: 100 });
        expect(items.map(item => item.task_id)).toEqual(model.trash.map(one => one.id).sort());
        for (const task of model.live)
          expect((await listSubtasks(f.writing, user_id, task.id)).map(one => one.task_id)).toEqual(
            task.subtasks,
          );
      }),
      { numRuns: runs, ...seeded },
    );
  });
});

const idsOf = (tasks: readonly Plain[]) => tasks.map(task => task.id);

// As a client does it.
async function sync(f: Fixture, user_id: string, replica: Replica): Promise<void> {
  for (let more = true; more; ) {
    const page = await readChanges(f.writing, user_id, replica.token, 7);
    for (const task of page.changed) replica.tasks.set(task.task_id, task);
    for (const { task_id } of page.deleted) replica.tasks.delete(task_id);
    replica.token = page.token;
    more = page.has_more;
  }
  // The first reading may have been overtaken by changes.
  const rest = await readChanges(f.writing, user_id, replica.token, 7);
  expect([rest.changed, rest.deleted]).toEqual([[], []]);
}

// Small pages end in the middle of everything; large ones spare a slow client.
let itemsAtATime = 3;

async function readAll(queries: readonly patterns.PageReader[]): Promise<string[]> {
  const ids: string[] = [];
  let next: Awaited<ReturnType<typeof readQueries>>['next'];
  do {
    const page = await readQueries(queries, itemsAtATime, next);
    ids.push(...page.items.map(item => item.task_id));
    next = page.next;
  } while (next);
  return ids;
}

async function checkLists(f: Fixture, user_id: string, { live }: Model): Promise<void> {
  const reading = { store: f.store, user_id };
  const today = todayIn('UTC', f.clock.now());
  const dated = live.filter(one => one.due_date !== undefined);
  const expectList = async (queries: readonly patterns.PageReader[], expected: string[]) =>
    expect(await readAll(queries)).toEqual(expected);

  await expectList(patterns.allTasksOf(reading), idsOf(live));
  await expectList(
    patterns.tasksGroupedByStatus(reading),
    sortedBy(live, one => one.status),
  );
  for (const status of statuses)
    await expectList(
      patterns.tasksWithStatus(reading, status),
      idsOf(live.filter(one => one.status === status)),
    );
  await expectList(patterns.completedTasks(reading), idsOf(live.filter(one => one.status === 'completed')));
  await expectList(
    patterns.tasksWithDueDate(reading),
    sortedBy(dated, one => one.due_date),
  );
  for (const day of ['2026-01-01', '2026-01-03'])
    await expectList(patterns.tasksDueOn(reading, day), idsOf(live.filter(one => one.due_date === day)));
  const [from, to] = ['2026-01-01', '2026-02-28'];
  const inRange = dated.filter(one => from! <= one.due_date! && one.due_date! <= to!);
  await expectList(
    patterns.tasksDueBetween(reading, { from, to }),
    sortedBy(inRange, one => one.due_date),
  );
  const overdue = dated.filter(one => one.due_date! < today && isOpen(one));
  await expectList(
    patterns.overdueTasks(reading, today),
    sortedBy(overdue, one => one.due_date),
  );
  const ranked = priorities.toReversed().flatMap(rank => live.filter(one => one.priority === rank));
  await expectList(patterns.tasksRanked(reading), idsOf(ranked));
  for (const rank of priorities)
    await expectList(
      patterns.tasksWithPriority(reading, rank),
      idsOf(live.filter(one => one.priority === rank)),
    );
  const grouped = live.filter(one => one.category !== undefined);
  await expectList(
    patterns.tasksGroupedByCategory(reading),
    sortedBy(grouped, one => encodeURIComponent(one.category!)),
  );
  for (const category of categories)
    await expectList(
      patterns.tasksInCategory(reading, category),
      idsOf(live.filter(one => one.category === category)),
    );
}

async function checkFilters(f: Fixture, user_id: string, { live }: Model): Promise<void> {
  await currentTally(f.writing, user_id); // as a list does that is about parents
  const today = todayIn('UTC', f.clock.now());
  const cases: [string, (task: Plain) => boolean][] = [
    [
      'status:pending,completed priority>=high',
      one => ['pending', 'completed'].includes(one.status) && ['high', 'urgent'].includes(one.priority ?? ''),
    ],
    [
      '-category:work label:a,b',
      one => one.category !== 'work' && one.labels.some(label => 'ab'.includes(label)),
    ],
    [
      'category:work,🏠 due>=2026-01-01',
      one => ['work', '🏠'].includes(one.category ?? '') && (one.due_date ?? '') >= '2026-01-01',
    ],
    ['due:none -status:cancelled', one => one.due_date === undefined && one.status !== 'cancelled'],
    ['is:overdue', one => isOpen(one) && one.due_date !== undefined && one.due_date < today],
    ['is:open has:priority', one => isOpen(one) && one.priority !== undefined],
    ['is:subtask', one => one.parent !== undefined],
    ['due:2026-01-01..2026-01-02 due<=2026-01-01', one => one.due_date === '2026-01-01'],
    [`due<today due>${addDays(today, 5)}`, () => false],
  ];
  const sorts: [ListRequest['sort'], (task: Plain) => string | undefined][] = [
    ['created', () => ''],
    ['due_date', one => one.due_date ?? 'none'],
    ['priority', one => String(one.priority ? 9 - priorities.indexOf(one.priority as never) : 'none')],
    ['status', one => one.status],
    ['category', one => (one.category === undefined ? '~' : encodeURIComponent(one.category))],
  ];
  for (const [text, test] of cases) {
    const filter = parseFilter(text, today);
    const expected = live.filter(test);
    expect(new Set(await readAll(planList({ store: f.store, user_id }, { filter })))).toEqual(
      new Set(idsOf(expected)),
    );
    for (const [sort, key] of sorts)
      expect(
        await readAll(planList({ store: f.store, user_id }, { filter, sort })),
        `${text} by ${sort}`,
      ).toEqual(sortedBy(expected, key));
    const tops = expected.filter(one => one.parent === undefined);
    expect(
      new Set(await readAll(planList({ store: f.store, user_id }, { filter, sort: 'position' }))),
    ).toEqual(new Set(idsOf(tops)));
  }
}

async function checkCounts(f: Fixture, user_id: string, { live }: Model): Promise<void> {
  const deps = f.writing;
  const today = todayIn('UTC', f.clock.now());
  const zeroes = (names: readonly string[]) => names.map(name => [name, 0] as const);
  const byStatus = Object.fromEntries([...zeroes(statuses), ...countBy(live, 'status')]);
  const byPriority = Object.fromEntries([...zeroes([...priorities, 'none']), ...countBy(live, 'priority')]);
  expect(await countByStatus(deps, user_id)).toEqual(byStatus);
  expect(await countByPriority(deps, user_id)).toEqual(byPriority);
  const counts = await readCounts(deps, user_id);
  const categorised = countBy(
    live.filter(one => one.category !== undefined),
    'category',
  );
  expect(new Map(counts.by_category.map(one => [one.category, one.tasks]))).toEqual(categorised);
  const open = live.filter(isOpen);
  const blocked = open.filter(one => one.labels.includes('blocked')).length;
  const overdue = open.filter(one => one.due_date !== undefined && one.due_date < today).length;
  expect(counts).toMatchObject({ total: live.length, blocked, overdue });
  const done = live.filter(one => one.status === 'completed').length;
  expect(await taskStatistics(deps, user_id)).toEqual({ done, left: open.length, blocked, overdue });
}
