import assert from 'node:assert';
import type { Answer, Fixture } from './fixture.ts';
import type { Step } from './step.ts';

const keepAs = (name: string) => (fixture: Fixture, answer: Answer) =>
  void fixture.known.set(name, (answer.json as { task_id: string }).task_id);
const theirs = { anything: 'a task belongs to its creator' };

// The stranger tries before the owner: if they could change a task of the owner's, the owner's own change would fail.
function assertDone(_fixture: Fixture, answer: Answer): void {
  const { results } = answer.json as { results: readonly { ok: boolean }[] };
  assert(
    results.every(({ ok }) => ok),
    answer.text,
  );
}

const tasksOfOne: readonly Step[] = [
  {
    operation: 'tasks.create',
    body: {
      title: 'Walked task',
      description: 'Walked description',
      priority: 'high',
      category: 'Walked category',
      labels: ['Walked label'],
      due_date: '2027-01-31',
      recurrence: 'FREQ=MONTHLY',
      reminder: { days_before: 1, time: '09:30' },
    },
    status: 201,
    stranger: theirs,
    keep: keepAs('task_id'),
  },
  {
    operation: 'tasks.create',
    body: { title: 'Walked subtask', parent_id: '{task_id}' },
    status: 201,
    stranger: theirs,
    keep: keepAs('subtask_id'),
  },
  {
    operation: 'tasks.create',
    body: { title: 'Walked too', status: 'completed' },
    status: 201,
    stranger: theirs,
    keep: keepAs('other_id'),
  },
  { operation: 'tasks.get' },
  { operation: 'tasks.subtasks' },
  { operation: 'tasks.list', query: { filter: 'category:"Walked category"', view: 'full' }, stranger: 'own' },
  { operation: 'tasks.list', stranger: 'own' },
  { operation: 'tasks.search', query: { q: 'walked' }, stranger: 'own' },
  { operation: 'tasks.counts', stranger: 'own' },
  { operation: 'tasks.export', query: { format: 'csv' }, stranger: 'own' },
  { operation: 'tasks.export', stranger: 'own' },
  { operation: 'tasks.changes', stranger: 'own' },
  { operation: 'tasks.events', stranger: 'own' },
  { operation: 'tasks.update', body: { title: 'Walked on', status: 'in_progress', labels: null } },
  { operation: 'tasks.move', body: { after: '{other_id}' } },
  {
    operation: 'tasks.bulk',
    body: { items: [{ op: 'delete', task_id: '{subtask_id}' }] },
    stranger: 'own',
    keep: assertDone,
  },
  { operation: 'tasks.listTrash', stranger: 'own' },
  { operation: 'tasks.restore', path: { task_id: '{subtask_id}' } },
  { operation: 'tasks.delete' },
  { operation: 'tasks.purge' },
  { operation: 'tasks.clearCompleted', stranger: 'own' },
  { operation: 'tasks.emptyTrash', stranger: 'own' },
  { operation: 'tasks.me', stranger: 'own' },
  { operation: 'tasks.updateMe', body: { time_zone: 'Europe/Lisbon', retention_days: 90 }, stranger: 'own' },
  {
    operation: 'tasks.replaceFeed',
    stranger: 'own',
    keep: (fixture, answer) => {
      const { address } = answer.json as { address: string };
      fixture.known.set('file', address.slice(address.lastIndexOf('/') + 1));
    },
  },
  { operation: 'tasks.feed', as: 'nobody', stranger: { anything: 'the address is the secret' } },
  { operation: 'tasks.revokeFeed', stranger: 'own' },
];

// Accounts have tasks, and so have the users of their tenants.
export const tasksSteps: readonly Step[] = [
  ...tasksOfOne,
  ...tasksOfOne.map((step): Step => (step.as ? step : { ...step, as: 'endUser' })),
  { operation: 'tasks.listOfUser', path: { user_id: 'ann' } },
];
