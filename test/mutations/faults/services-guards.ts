import type { Fault } from '../fault.ts';

// Sends, marks, lists of tasks, conversations, sessions, erasures, the lake.

export const serviceGuardFaults: readonly Fault[] = [
  {
    name: 'inbox-sent-to-erased',
    file: 'services/inbox/src/sends/send-worker.ts',
    before: 'const present = some.filter(uid => uid !== erasedRecipient);',
    after: 'const present = some;',
    why: 'A send makes a mailbox for a user who was erased',
    caughtBy: { test: 'services/inbox/test/recipients.test.ts' },
  },
  {
    name: 'inbox-receipt-of-late-joiner',
    file: 'services/inbox/src/sends/receipts.ts',
    before: 'if (!state || one.seq === undefined || one.seq <= state.joined) return [];',
    after: 'if (!state || one.seq === undefined) return [];',
    why: 'Who joined later is listed as a recipient',
    caughtBy: { test: 'services/inbox/test/recipients.test.ts' },
  },
  {
    name: 'inbox-redacted-while-sent',
    file: 'services/inbox/src/sends/redaction.ts',
    before:
      "  return ['send', write.update(send, keyOfSend(current), change, { if: { status: current.status } })];",
    after: "  return ['send', write.update(send, keyOfSend(current), change)];",
    why: 'A message that is sent while it is cancelled is both',
    caughtBy: { test: 'services/inbox/test/recipients.test.ts' },
  },
  {
    name: 'inbox-range-over-later-mark',
    file: 'services/inbox/src/mailbox/mark-all.ts',
    before: 'write.update(userMessage, { ...user, id }, { set }, { if: { touched: before } })',
    after: 'write.update(userMessage, { ...user, id }, { set })',
    why: 'A message marked as unread in the meantime is read again',
    caughtBy: { test: 'services/inbox/test/once.test.ts', name: 'spares what is marked meanwhile' },
  },
  {
    name: 'inbox-redactions-forgotten',
    file: 'services/inbox/src/sends/redaction.ts',
    before: 'const redacting = [...(head?.redacting ?? []), current.id];',
    after: 'const redacting = [current.id];',
    why: 'A message whose redaction goes on is shown again when another one is redacted',
    caughtBy: { test: 'services/inbox/test/recipients.test.ts' },
  },
  {
    name: 'tasks-bulk-from-start',
    file: 'services/tasks/src/edit/bulk.ts',
    before: 'if (known && known.done > before.length) return',
    after: 'if (known && known.done > items.length) return',
    why: 'A bulk request that is repeated does its items again',
    caughtBy: {
      test: 'services/tasks/test/bulk.test.ts',
      name: 'is done once, and has the same results again if its response was lost',
    },
  },
  {
    name: 'tenants-erasure-skips',
    file: 'services/tenants/src/erasure/erasure-worker.ts',
    before: "steps_done: erased === 'done' ? [...job.steps_done, step] : job.steps_done,",
    after: 'steps_done: [...job.steps_done, step],',
    why: 'A service that has more to erase is taken for done',
    caughtBy: {
      test: 'services/tenants/test/user-erasure.test.ts',
      name: 'is erased in every service, and no other user is',
    },
  },
  {
    name: 'tenants-erasure-forgets-service',
    file: 'services/tenants/src/erasure/erasure-worker.ts',
    before: '[...names, ownStep].find(',
    after: '[...came.map(({ name }) => name), ownStep].find(',
    why: 'What a service that is switched off has stored is not erased, and the erasure ends',
    caughtBy: {
      test: 'services/tenants/test/tenant-deletion.test.ts',
      name: 'is not done while a service fails or is missing',
    },
  },
  {
    name: 'tenants-settings-raced',
    file: 'services/tenants/src/tenants/settings.ts',
    before: "{ if: { settings_version, status: is.not('deleted') }, pattern: 'write settings' }",
    after: "{ if: { status: is.not('deleted') }, pattern: 'write settings' }",
    why: 'Two changes of settings at once keep one',
    caughtBy: { test: 'services/tenants/test/tenants.test.ts', name: 'lose no update' },
  },
  {
    name: 'lake-number-of-a-deleted-commit',
    file: 'services/lake/src/storage/manifest.ts',
    before: '      if (clock.now() - readAt > limits.manifestStaleMs) continue;\n',
    after: '',
    why: 'A process that was suspended takes the number of a commit that was deleted',
    caughtBy: { test: 'services/lake/test/manifest.test.ts', name: 'while it builds a commit' },
  },
  {
    name: 'lake-commits-deleted-early',
    file: 'services/lake/src/storage/manifest.ts',
    before: 'const isOld = numberOf(key) <= old && changedAt < clock.now() - limits.commitsKeptMs;',
    after: 'const isOld = numberOf(key) <= old;',
    why: 'A reader misses commits that were folded while it read',
    caughtBy: { test: 'services/lake/test/manifest.test.ts', name: 'folded just now stay' },
  },
  {
    name: 'inbox-erased-while-scheduled',
    file: 'services/inbox/src/inboxes/eraser.ts',
    before: "return (await forgetInPending(deps, tenantId, userId)) > 0 ? 'more' : 'done';",
    after: "return 'done';",
    why: 'A message that waits for its time brings an erased user back',
    caughtBy: { test: 'services/inbox/test/recipients.test.ts' },
  },
  {
    name: 'server-presence-looks-without-pause',
    file: 'apps/server/src/presence.ts',
    before: 'return Math.max(atMs + lookAgainMs(found.length), Math.min(clock.now() + beatMs, ...ends));',
    after: 'return Math.min(clock.now() + beatMs, ...ends);',
    why: 'The reports of hundreds of servers throttle',
    caughtBy: {
      test: 'apps/server/test/simulate-servers.test.ts',
      name: 'each of 1000 servers reads the reports of all',
    },
  },
  {
    name: 'streams-members-read-without-pause',
    file: 'packages/streams/src/limits.ts',
    before: '(members: number): number => members ** 2 / 16;',
    after: '(members: number): number => members / 16;',
    why: 'The members of a consumer on hundreds of servers throttle',
    caughtBy: {
      test: 'apps/server/test/simulate-servers.test.ts',
      name: 'the units of all servers together stay below what one key can take',
    },
  },
];
