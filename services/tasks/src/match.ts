import { and, type Condition, is, not as negate, or } from '@stak/table';
import { isOpen } from './counts.ts';
import type { Clause, Filter } from './filter.ts';
import { openStatuses, type Summary, type Task } from './schema.ts';

// A filter as DynamoDB understands it, and as a test of a task in hand. Both mean the same.

export function conditionOf(filter: Filter): Condition<Task> | undefined {
  const conditions = filter.map(clause => {
    const positive = positiveOf(clause);
    // What is compared with a missing attribute is false, so its negation is true.
    return clause.not ? negate(positive) : positive;
  });
  return conditions.length === 0 ? undefined : (and(...conditions) as Condition<Task>);
}

function positiveOf(clause: Clause): object {
  switch (clause.kind) {
    case 'oneOf':
      return { [clause.attribute]: is.oneOf(clause.values) };
    case 'label':
      return or(...clause.values.map(label => ({ labels: is.containing(label) })));
    case 'present':
      return { [clause.attribute]: is.present };
    case 'open':
      return { status: is.oneOf(openStatuses) };
    case 'due':
      return { due_date: dueComparison(clause) };
  }
}

const dueComparison = ({ from, to }: { from?: string; to?: string }) => {
  if (from !== undefined && to !== undefined) return is.between(from, to);
  return from === undefined ? is.atMost(to!) : is.atLeast(from);
};

export const matches = (task: Summary, filter: Filter): boolean =>
  filter.every(clause => holds(task, clause) !== clause.not);

function holds(task: Summary, clause: Clause): boolean {
  switch (clause.kind) {
    case 'oneOf': {
      const value = task[clause.attribute];
      return value !== undefined && clause.values.includes(value);
    }
    case 'label':
      return clause.values.some(label => task.labels?.includes(label));
    case 'present':
      return task[clause.attribute] !== undefined;
    case 'open':
      return isOpen(task.status);
    case 'due': {
      const { due_date } = task;
      if (due_date === undefined) return false;
      return (clause.from ?? due_date) <= due_date && due_date <= (clause.to ?? due_date);
    }
  }
}
