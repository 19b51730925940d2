import { describe, expect, it } from 'vitest';
import { parseQuickTask } from './quick-task.ts';

const sunday = new Date(2026, 10, 15, 23, 30);
const parse = (text: string) => parseQuickTask(text, sunday);

describe('a task in one line', () => {
  it('is its title where nothing else is said', () => {
    expect(parse('  Call   Ann ')).toEqual({ title: 'Call Ann' });
  });

  it('has a priority, a category, labels, a day and a rhythm', () => {
    expect(parse('Call Ann tomorrow !High #sales @phone @vip every week')).toEqual({
      title: 'Call Ann',
      priority: 'high',
      category: 'sales',
      labels: ['phone', 'vip'],
      due_date: '2026-11-16',
      recurrence: 'FREQ=WEEKLY',
    });
  });

  it.each([
    ['Pay today', '2026-11-15'],
    ['Pay due 2026-12-31', '2026-12-31'],
    ['Pay in 2 weeks', '2026-11-29'],
    ['Pay in 20 days', '2026-12-05'],
    ['Pay on friday', '2026-11-20'],
    ['Pay on Sunday', '2026-11-22'],
  ])('%s is due %s', (text, due_date) => {
    expect(parse(text)).toEqual({ title: 'Pay', due_date });
  });

  it('starts today when it comes again and no day is said', () => {
    expect(parse('Water plants every day')).toMatchObject({ due_date: '2026-11-15' });
  });

  it('leaves alone what only looks like a word of its own', () => {
    expect(parse('Write "today!" to a#b and c@d')).toEqual({ title: 'Write "today!" to a#b and c@d' });
  });
});
