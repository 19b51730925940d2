import ical, { ICalEventTransparency } from 'ical-generator';
import { utcOf } from './calendar.ts';
import type { Task } from './schema.ts';

// Tasks as all-day events: hardly any calendar shows the to-dos of a feed it subscribes to.
export function calendarText(tasks: readonly Task[]): string {
  const calendar = ical({ name: 'Tasks', prodId: { company: 'Stak', product: 'Tasks' } });
  for (const task of tasks) {
    if (task.due_date === undefined) continue;
    calendar.createEvent({
      id: `${task.task_id}@stak`,
      start: new Date(utcOf(task.due_date)),
      allDay: true,
      summary: task.status === 'completed' ? `✓ ${task.title}` : task.title,
      description: task.description ?? null,
      categories: [task.category ?? [], task.labels ?? []].flat().map(name => ({ name })),
      transparency: ICalEventTransparency.TRANSPARENT, // a task does not make its user busy all day
      sequence: task.version,
      created: new Date(task.created_at * 1000),
      lastModified: new Date(task.updated_at * 1000),
      stamp: new Date(task.updated_at * 1000),
      repeating: repetitionOf(task),
    });
  }
  return calendar.toString();
}

// A COUNT counts from the first of the series. A calendar would count from the task it sees, and show too many: it sees
// a later one alone.
function repetitionOf({ recurrence, due_date, series_start }: Task): string | null {
  if (recurrence === undefined) return null;
  const isMiscounted = due_date !== series_start && recurrence.includes('COUNT=');
  return isMiscounted ? null : `RRULE:${recurrence}`;
}
