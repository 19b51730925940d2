import type { AnyEntity, Insight, InsightRow } from '@stak/table';

// The insights of tests: every kind of count, group, condition and answer.

const dayOf = (column: string) => `strftime(to_timestamp(${column}), '%Y-%m-%d')`;
const isOpen = `status in ('pending', 'in_progress')`;

export function choreInsights(chore: AnyEntity): Insight[] {
  const about = { entity: chore } as const;
  return [
    {
      ...about,
      name: 'tasks-created',
      description: 'Tasks created on each day.',
      of: 'kept',
      groups: { day: dayOf('created_at') },
      sums: { tasks: '1' },
      day: 'day',
    },
    {
      ...about,
      name: 'tasks-completed',
      description: 'Tasks completed on each day.',
      of: 'kept',
      groups: { day: dayOf('completed_at') },
      sums: { tasks: '1' },
      where: 'completed_at is not null',
      day: 'day',
    },
    {
      ...about,
      name: 'tasks-by-status',
      description: 'How many tasks have which status.',
      of: 'present',
      groups: { status: 'status' },
      sums: { tasks: '1' },
    },
    {
      ...about,
      name: 'tasks-by-priority',
      description: 'How many tasks have which priority.',
      of: 'present',
      groups: { priority: `coalesce(priority, 'none')` },
      sums: { tasks: '1' },
    },
    {
      ...about,
      name: 'tasks-cycle-time',
      description: 'Hours from creation to completion, by the day of completion.',
      of: 'kept',
      groups: { day: dayOf('completed_at') },
      sums: {
        tasks: '1',
        seconds: 'completed_at - created_at',
        within_a_day: `if(completed_at - created_at <= 86400, 1, 0)`,
        within_a_week: `if(completed_at - created_at <= 604800, 1, 0)`,
      },
      where: 'completed_at is not null',
      day: 'day',
      answer: rows =>
        rows.map(({ day = null, tasks, seconds, within_a_day = null, within_a_week = null }) => ({
          day,
          tasks: Number(tasks),
          average_hours: rounded(Number(seconds) / Number(tasks) / 3600),
          within_a_day,
          within_a_week,
        })),
    },
    {
      ...about,
      name: 'tasks-overdue',
      description: 'Open tasks with a due date, and how many of them are late.',
      of: 'present',
      groups: { due_date: 'due_date' },
      sums: { tasks: '1' },
      where: `due_date is not null and ${isOpen}`,
      answer: overdueRate,
    },
    {
      ...about,
      name: 'tasks-activity',
      description: 'Changes of tasks by each user on each day.',
      of: 'changes',
      groups: { user: 'user_id', day: `strftime(_at, '%Y-%m-%d')` },
      sums: {
        changes: '1',
        created: `if(_kind = 'insert', 1, 0)`,
        removed: `if(_kind in ('remove', 'expire'), 1, 0)`,
      },
      day: 'day',
    },
  ];
}

function overdueRate(rows: readonly InsightRow[], { today }: { today: string }): InsightRow[] {
  const count = (some: readonly InsightRow[]) => some.reduce((sum, { tasks }) => sum + Number(tasks), 0);
  const due = count(rows);
  const overdue = count(rows.filter(({ due_date }) => String(due_date) < today));
  return [{ due, overdue, rate: due === 0 ? 0 : rounded(overdue / due) }];
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;
