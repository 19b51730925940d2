import { idIn, newTask, openTasks, tasksInRow } from './tasks.ts';

// A row of the documented table of access patterns: the documented cost, and the cost measured here.
export type CostRow = {
  pattern: string;
  claimed: string;
  readUnits: number;
  writeUnits: number;
  why: string;
};

type Row = [
  pattern: string,
  claimed: string,
  why: string,
  request: [method: string, path: string, body?: object],
];

const list = (query: string): [string, string] => ['GET', `/v1/tasks?limit=50&${query}`];
const filter = (text: string): [string, string] => list(`filter=${encodeURIComponent(text)}`);
const summaries = 'summaries are small';
const sorted = 'and a look for tasks without one, which come last';

const rowsFor = (ids: readonly string[]): Row[] => [
  ['user by user_id', '0.5 RCU', '', ['GET', '/v1/tasks/me']],
  ['task by task_id', '0.5 RCU', '', ['GET', `/v1/tasks/${ids[0]}`]],
  ['all tasks', '1–5 RCU', 'whole items, 0.125 for each KB', list('')],
  ['by status', '1–5 RCU', summaries, list('sort=status')],
  ['by specific status', '1–5 RCU', summaries, filter('status:pending')],
  ['by due date', '1–5 RCU', sorted, list('sort=due_date')],
  ['by specific due date', '1–5 RCU', summaries, filter('due:2026-01-05')],
  ['by date range', '1–5 RCU', summaries, filter('due>=2026-01-05 due<=2026-01-09')],
  ['pagination', 'no cost', 'every page rounds up', ['GET', '/v1/tasks?limit=10&sort=status']],
  [
    'by priority',
    '1–5 RCU',
    'in the order of their rank: four queries, and a look for those without one',
    list('sort=priority'),
  ],
  ['by specific priority', '1–5 RCU', summaries, filter('priority:urgent')],
  ['by category', '1–5 RCU', sorted, list('sort=category')],
  ['by specific category', '1–5 RCU', summaries, filter('category:work')],
  ['completed tasks', '1–5 RCU', 'from the status index, no filter', filter('status:completed')],
  ['overdue tasks', '1–5 RCU', "in the user's time zone", filter('is:overdue')],
  ['all with due dates', '1–5 RCU', summaries, filter('due>=1970-01-01')],
  [
    'count by status',
    '50–200 RCU',
    'one item, no scan; and how many are overdue',
    ['GET', '/v1/tasks/counts'],
  ],
  ['count by priority', '50–200 RCU', 'the same answer', ['GET', '/v1/tasks/counts']],
  [
    'search',
    '50–500 RCU',
    'an index in memory; it reads what it shows',
    ['GET', '/v1/tasks/search?q=number&limit=10'],
  ],
  [
    'create task',
    '1 WCU',
    'a transaction: task, five indexes, counts, change',
    ['POST', '/v1/tasks', newTask(1)],
  ],
  [
    'update task',
    '1 WCU',
    'a transaction, and a key that moves',
    ['PATCH', `/v1/tasks/${ids[0]}`, { status: 'cancelled' }],
  ],
  [
    'bulk update of 10',
    '1.5 WCU each',
    'BatchWriteItem cannot update',
    ['POST', '/v1/tasks/bulk', changeOf(ids.slice(0, 10))],
  ],
  [
    'delete task',
    '0.5 WCU',
    'it leaves five indexes and goes to the trash',
    ['DELETE', `/v1/tasks/${ids[39]}`],
  ],
  [
    'bulk delete of completed',
    '0.5 WCU each',
    'all completed tasks; a write is never half a unit',
    ['POST', '/v1/tasks/completed/clear'],
  ],
];

const changeOf = (ids: readonly string[]) => ({
  items: ids.map(task_id => ({ op: 'update', task_id, set: { status: 'completed' } })),
});

// A user with 40 tasks of half a kilobyte.
export async function measureCosts(): Promise<CostRow[]> {
  const tasks = await openTasks(':memory:');
  const call = tasks.callAs('usr_ann');
  const spend = async (work: () => Promise<unknown>) => {
    tasks.ledger.clear();
    await work();
    const sum = (kind: 'readUnits' | 'writeUnits') =>
      tasks.ledger.entries().reduce((all, entry) => all + entry[kind], 0);
    return { readUnits: sum('readUnits'), writeUnits: sum('writeUnits') };
  };
  try {
    await call('PATCH', '/v1/tasks/me', { name: 'Ann' });
    const ids: string[] = [];
    for (let i = 0; i < tasksInRow; i++) ids.push(idIn(await call('POST', '/v1/tasks', newTask(i))));
    await call('GET', '/v1/tasks/search?q=number&limit=10'); // builds the index
    const rows: CostRow[] = [];
    for (const [pattern, claimed, why, request] of rowsFor(ids))
      rows.push({ pattern, claimed, why, ...(await spend(() => call(...request))) });

    const keyed = () => call('POST', '/v1/tasks', newTask(2), { 'Idempotency-Key': 'the-same' });
    await keyed();
    const why = 'read strongly, with the counts: two requests could both miss it';
    rows.push({ pattern: 'idempotency check', claimed: '0.5 RCU', why, ...(await spend(keyed)) });
    rows.push({
      pattern: 'idempotency cleanup',
      claimed: '0 RCU',
      why: 'by time to live',
      readUnits: 0,
      writeUnits: 0,
    });
    return rows;
  } finally {
    await tasks.close();
  }
}
