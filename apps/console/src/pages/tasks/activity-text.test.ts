import { expect, test } from 'vitest';
import { tellEntry } from './activity-text.ts';

const change = (field: string, before: unknown, after: unknown) => ({
  at: '2026-11-16T09:30:00.000Z',
  kind: 'modify' as const,
  changes: [{ field, before, after }],
});

test.each([
  [change('status', 'pending', 'completed'), ['Status: To do → Done']],
  [change('due_date', null, '2026-12-01'), ['Due: 2026-12-01']],
  [change('labels', ['a', 'b'], []), ['Labels removed: a, b']],
  [change('description', 'x', 'y'), ['Description changed']],
  [change('version', 1, 2), []],
])('describes a change in words, without fields that the user did not choose', (entry, texts) => {
  expect(tellEntry(entry, false)).toEqual(texts);
});

test('distinguishes a created task from a restored one', () => {
  const insert = { at: '2026-11-16T09:30:00.000Z', kind: 'insert' as const, changes: [] };
  expect([tellEntry(insert, true), tellEntry(insert, false)]).toEqual([
    ['Created'],
    ['Restored from the trash'],
  ]);
});
