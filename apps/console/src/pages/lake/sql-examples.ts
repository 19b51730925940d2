// Example queries, which work for every account.
export const examples: readonly { label: string; sql: string }[] = [
  {
    label: 'Open tasks by category',
    sql: `select coalesce(category, '(none)') as category, count(*) as tasks, count(due_date) as with_due_date
from tasks
where status in ('pending', 'in_progress')
group by 1
order by tasks desc`,
  },
  {
    label: 'Overdue tasks',
    sql: `select title, due_date, priority, date_diff('day', due_date::date, current_date) as days_late
from tasks
where status in ('pending', 'in_progress') and due_date::date < current_date
order by due_date`,
  },
  {
    label: 'Finished by week',
    sql: `select date_trunc('week', to_timestamp(completed_at))::date as week, count(*) as tasks
from tasks
where completed_at is not null
group by 1
order by 1`,
  },
  {
    label: 'Deliveries by state',
    sql: `select state, count(*) as deliveries, sum(attempts) as attempts
from deliveries
group by 1
order by 2 desc`,
  },
  {
    label: 'Messages read',
    sql: `select tenant_key, count(*) as messages, count(readat) as read
from messages
group by 1
order by 2 desc`,
  },
  { label: 'List the tables', sql: 'show tables' },
];
