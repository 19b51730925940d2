import { defineErrors } from '@stak/kit';

export const tasksErrors = defineErrors({
  'tasks.task_not_found': 404,
  'tasks.feed_not_found': 404,
  'tasks.filter_refused': 400,
  'tasks.recurrence_refused': 400,
  'tasks.reminder_refused': 400,
  'tasks.user_refused': 400,
  'tasks.parent_refused': 409,
  'tasks.order_refused': 409,
  'tasks.limit_reached': 409,
  'tasks.email_taken': 409,
  'tasks.token_expired': 410,
  'tasks.task_purged': 410,
  'tasks.busy': 503,
});

type Location = 'body' | 'query';
type Code = keyof typeof tasksErrors.statuses;

// An error that names the field it is about.
export const refuseField = (code: Code, location: Location, field: string, detail: string) =>
  tasksErrors.create(code, detail, {
    errors: [{ in: location, pointer: `#/${field}`, code: code.slice('tasks.'.length), detail }],
  });

// The same for a task that does not exist and one of another user.
export const taskNotFound = () => tasksErrors.create('tasks.task_not_found', 'Task not found.');
