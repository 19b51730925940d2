import { addDays, instantOf } from './calendar.ts';
import { refuseField } from './errors.ts';
import { firstPosition } from './position.ts';
import { checkRule } from './recurrence.ts';
import type { Task } from './schema.ts';
import type { Tally } from './table.ts';

type Settings = Pick<Tally, 'time_zone' | 'retention_days'>;
const dayS = 24 * 60 * 60;

// A task with everything that follows from the rest of it. Whoever writes a task writes what comes out of here, so the
// same task always expires and reminds at the same moment.
export function stamp(task: Task, settings: Settings, nowS: number): Task {
  const stamped: Task = {
    ...task,
    completed_at: task.status === 'completed' ? (task.completed_at ?? nowS) : null,
    position: task.parent_id === undefined ? (task.position ?? firstPosition(task.task_id)) : undefined,
    ...seriesOf(task),
  };
  stamped.ttl = expiresAt(stamped, settings, nowS);
  stamped.remind_at = remindsAt(task, settings.time_zone);
  return withoutEmpty(stamped);
}

// A time to live that is over already is the present: DynamoDB leaves alone what expired years ago.
function expiresAt(task: Task, { retention_days }: Settings, nowS: number): number | undefined {
  if (task.completed_at === null || retention_days === undefined) return undefined;
  const atS = task.completed_at + retention_days * dayS;
  return atS > nowS ? atS : (task.ttl ?? nowS);
}

function remindsAt({ reminder, due_date }: Task, timeZone: string): number | undefined {
  if (!reminder) return undefined;
  // Rounded up: not before its time, and not into the past, where nothing is reminded of.
  if ('at' in reminder) return Math.ceil(Date.parse(reminder.at) / 1000);
  if (due_date === undefined)
    throw refuseField(
      'tasks.reminder_refused',
      'body',
      'reminder',
      'Without a due date there is no day before it.',
    );
  return Math.floor(instantOf(addDays(due_date, -reminder.days_before), reminder.time, timeZone) / 1000);
}

// A series begins with the due date of the task that got the rule.
function seriesOf(task: Task): Partial<Task> {
  if (task.recurrence === undefined) return {};
  if (task.due_date === undefined)
    throw refuseField(
      'tasks.recurrence_refused',
      'body',
      'recurrence',
      'What recurs needs a due date to begin with.',
    );
  const start = task.series_start ?? task.due_date;
  return {
    recurrence: task.series_start === undefined ? checkRule(task.recurrence, start) : task.recurrence,
    series_start: start,
    series_id: task.series_id ?? task.task_id,
  };
}

// Attributes are there or not; empty ones would be in an index, or refused by it.
function withoutEmpty(task: Task): Task {
  const isEmpty = (value: unknown) =>
    value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(task).filter(([, value]) => !isEmpty(value))) as Task;
}
