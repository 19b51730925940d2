import { defineInsights, type InsightDefinition, type InsightRow } from '@stak/table';
import { task } from './tables.ts';

// For the lake. Times are in seconds, due dates are text; days are those of UTC.

const dayOf = (column: string) => `strftime(to_timestamp(${column}), '%Y-%m-%d')`;

export const taskInsights = defineInsights(task, ({ column, isOneOf }): InsightDefinition[] => {
  const completedAt = column('completed_at');
  const isCompleted = `${completedAt} is not null`;
  const seconds = `${completedAt} - ${column('created_at')}`;
  return [
    {
      name: 'tasks-created',
      description: 'Tasks created on each day.',
      of: 'kept',
      groups: { day: dayOf(column('created_at')) },
      sums: { tasks: '1' },
      day: 'day',
    },
    {
      name: 'tasks-completed',
      description: 'Tasks completed on each day.',
      of: 'kept',
      groups: { day: dayOf(completedAt) },
      sums: { tasks: '1' },
      where: isCompleted,
      day: 'day',
    },
    {
      name: 'tasks-by-status',
      description: 'How many tasks have which status.',
      of: 'present',
      groups: { status: column('status') },
      sums: { tasks: '1' },
    },
    {
      name: 'tasks-by-priority',
      description: 'How many tasks have which priority.',
      of: 'present',
      groups: { priority: `coalesce(${column('priority')}, 'none')` },
      sums: { tasks: '1' },
    },
    {
      name: 'tasks-cycle-time',
      description: 'Hours from creation to completion, by the day of completion.',
      of: 'kept',
      groups: { day: dayOf(completedAt) },
      sums: {
        tasks: '1',
        seconds,
        within_a_day: `if(${seconds} <= 86400, 1, 0)`,
        within_a_week: `if(${seconds} <= 604800, 1, 0)`,
      },
      where: isCompleted,
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
      name: 'tasks-overdue',
      description: 'Open tasks with a due date, and how many of them are late.',
      of: 'present',
      groups: { due_date: column('due_date') },
      sums: { tasks: '1' },
      where: `${column('due_date')} is not null and ${isOneOf('status', ['pending', 'in_progress'])}`,
      answer: overdueRate,
    },
    {
      name: 'tasks-activity',
      description: 'Changes of tasks by each user on each day.',
      of: 'changes',
      groups: { user: column('user_id'), day: `strftime(_at, '%Y-%m-%d')` },
      sums: {
        changes: '1',
        created: `if(_kind = 'insert', 1, 0)`,
        removed: `if(_kind in ('remove', 'expire'), 1, 0)`,
      },
      day: 'day',
    },
  ];
});

function overdueRate(rows: readonly InsightRow[], { today }: { today: string }): InsightRow[] {
  const count = (some: readonly InsightRow[]) => some.reduce((sum, { tasks }) => sum + Number(tasks), 0);
  const due = count(rows);
  const overdue = count(rows.filter(({ due_date }) => String(due_date) < today));
  return [{ due, overdue, rate: due === 0 ? 0 : rounded(overdue / due) }];
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;
