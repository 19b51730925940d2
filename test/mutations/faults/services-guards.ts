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
    name: 'inbox-erased-while-scheduled',
    file: 'services/inbox/src/inboxes/eraser.ts',
    before: "      if ((await forgetInPending(deps, tenantId, userId)) > 0) return 'more';\n",
    after: '',
    why: 'A message that waits for its time brings an erased user back',
    caughtBy: {
      test: 'services/inbox/test/recipients.test.ts',
      name: 'a user who is erased before a send begins is in no list of recipients, and gets no mailbox',
    },
  },
];
