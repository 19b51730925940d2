import type { Fault } from '../fault.ts';

// The tally, sync, order, recurrence, reminders.

const src = 'services/tasks/src';
const tests = 'services/tasks/test';
const reminders = { test: `${tests}/reminders.test.ts` };
const model = { test: `${tests}/model.test.ts`, name: 'a store that fails' };

export const taskFaults: readonly Fault[] = [
  {
    name: 'tasks-tally-without-number',
    file: `${src}/edit/commit.ts`,
    before: 'const guard = known ? { if: { seq: before.seq, epoch } } : { ifAbsent: true };',
    after: 'const guard = {};',
    why: 'Two processes give two changes one number: counts are wrong, and clients miss a change',
    caughtBy: { test: `${tests}/processes.test.ts` },
    isShort: true,
  },
  {
    name: 'tasks-miscounted',
    file: `${src}/edit/tally.ts`,
    before: 'byStatus[one.status] += by;',
    after: 'byStatus[one.status] += Math.max(by, 0);',
    why: 'A task that changes its status counts in both',
    caughtBy: model,
  },
  {
    name: 'tasks-expiry-not-counted',
    file: `${src}/edit/commit.ts`,
    before: 'next_expiry !== undefined && next_expiry <= nowS;',
    after: 'next_expiry !== undefined && next_expiry < 0 - nowS;',
    why: 'Tasks that have expired stay in the counts',
    caughtBy: { test: `${tests}/expiry.test.ts` },
  },
  {
    name: 'tasks-gap-not-noticed',
    file: `${src}/sync/changes.ts`,
    before: 'if (items[0]?.seq !== after + 1) throw tokenExpired();',
    after: '',
    why: 'A client with an old token misses changes and is not told',
    caughtBy: { test: `${tests}/sync.test.ts` },
  },
  {
    name: 'tasks-token-of-earlier-history',
    file: `${src}/sync/changes.ts`,
    before: 'if (token.epoch !== tally.epoch || token.seq > tally.seq) throw tokenExpired();',
    after: 'if (token.seq > tally.seq) throw tokenExpired();',
    why: 'After a user was erased, an old token continues in the new history',
    caughtBy: { test: `${tests}/sync.test.ts` },
  },
  {
    name: 'tasks-repeated-twice',
    file: `${src}/schedule/next-occurrence.ts`,
    before: '    recurrence: undefined,\n    parent_id: undefined,',
    after: '    parent_id: undefined,',
    why: 'A recurring task that is completed, opened and completed again repeats twice',
    caughtBy: { test: `${tests}/recurrence.test.ts` },
  },
  {
    name: 'tasks-repeated-in-the-past',
    file: `${src}/schedule/next-occurrence.ts`,
    before: 'due_date > today ? due_date : today);',
    after: 'due_date);',
    why: 'A recurring task that was overdue is due in the past again',
    caughtBy: { test: `${tests}/recurrence.test.ts` },
  },
  {
    name: 'tasks-series-without-end',
    file: `${src}/schedule/occurrences.ts`,
    before: 'rule.until ?? Number.POSITIVE_INFINITY',
    after: 'Number.POSITIVE_INFINITY',
    why: 'A series goes on after its last day',
    caughtBy: { test: `${src}/schedule/recurrence.test.ts` },
  },
  {
    name: 'tasks-reminder-without-fence',
    file: `${src}/schedule/reminders.ts`,
    before: '({ fence, due_at }: Reminder) => ({ fence, due_at });',
    after: '({ due_at }: Reminder) => ({ due_at });',
    why: 'A worker that is late removes the reminder that another one is sending',
    caughtBy: reminders,
  },
  {
    name: 'tasks-reminder-claimed-by-two',
    file: `${src}/schedule/reminders.ts`,
    before: "{ if: { ...fencedBy(seen), next_at: seen.next_at }, current: seen, pattern: 'claim reminder' }",
    after: "{ current: seen, pattern: 'claim reminder' }",
    why: 'Two workers send the same reminder',
    caughtBy: reminders,
    isShort: true,
  },
  {
    name: 'tasks-reminder-with-another-key',
    file: `${src}/schedule/reminders.ts`,
    before: 'key: `${task_id}:${due_at}`',
    after: 'key: `${task_id}:${due_at}:${clock.now()}`',
    why: 'A reminder that is sent again cannot be told from another one',
    caughtBy: reminders,
  },
  {
    name: 'tasks-reminder-throttled-to-death',
    file: `${src}/schedule/reminders.ts`,
    before: 'mine.attempts + (isUnavailable(failure) ? 0 : 1);',
    after: 'mine.attempts + (isUnavailable(failure) ? 1 : 1);',
    why: 'A store that throttles uses up the attempts of a reminder',
    caughtBy: reminders,
  },
  {
    name: 'tasks-moved-past-neighbour',
    file: `${src}/edit/order.ts`,
    before: 'positions.find(one => one > anchor),',
    after: 'undefined,',
    why: 'A task that is moved behind another one lands at the end',
    caughtBy: { test: `${tests}/ordering.test.ts` },
  },
  {
    name: 'tasks-lost-update',
    file: `${src}/edit/update.ts`,
    before: 'if (expected !== undefined && expected !== String(version)) throw versionMismatch();',
    after: "if (expected !== undefined && expected === '') throw versionMismatch();",
    why: 'If-Match is ignored, and one edit overwrites another',
    caughtBy: { test: `${tests}/tasks.test.ts` },
  },
  {
    name: 'tasks-of-another-owner',
    file: `${src}/users/owner.ts`,
    before: '`${encode(owner.tenantId)}:${encode(owner.userId)}`',
    after: '`${owner.tenantId}:${owner.userId}`',
    why: 'Users of two tenants can have the same tasks',
    caughtBy: { test: `${src}/users/owner.test.ts` },
  },
];
