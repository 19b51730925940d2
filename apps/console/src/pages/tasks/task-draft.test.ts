import { describe, expect, it } from 'vitest';
import { draftOf, isUnreadable, patchOf, type WholeTask } from './task-draft.ts';

const task: WholeTask = {
  task_id: 'tsk_1',
  title: 'Pay',
  status: 'pending',
  due_date: '2026-11-16',
  labels: ['home'],
  recurrence: 'FREQ=MONTHLY;BYDAY=-1FR',
  reminder: { at: '2026-11-15T08:30:00.000Z' },
  created_at: 1,
  updated_at: 1,
  completed_at: null,
  version: 1,
};
const changed = (part: Partial<ReturnType<typeof draftOf>>) => patchOf(task, { ...draftOf(task), ...part });

describe('the draft of a task', () => {
  it('is unchanged by opening it', () => {
    expect(changed({})).toEqual({});
  });

  it('removes emptied fields', () => {
    const reminder = { ...draftOf(task).reminder, kind: '' };
    expect(changed({ due: '', labels: [], repeats: '', reminder })).toEqual({
      due_date: null,
      labels: null,
      recurrence: null,
      reminder: null,
    });
  });

  it('parses recurrence and reminder texts', () => {
    const reminder = { kind: '2', time: '09:30', at: '' };
    expect(changed({ repeats: 'every 2 weeks', reminder })).toEqual({
      recurrence: 'FREQ=WEEKLY;INTERVAL=2',
      reminder: { days_before: 2, time: '09:30' },
    });
  });

  it('reports text it cannot parse, and keeps a rule that it can only describe', () => {
    const draft = draftOf(task);
    expect(draft.repeats).toBe('every month on the last Friday');
    expect(isUnreadable(task, draft)).toBe(false);
    expect(isUnreadable(task, { ...draft, repeats: 'sometimes' })).toBe(true);
  });
});
