import type { Fault } from '../fault.ts';

// States of mailboxes, counts of readers, sends, messages to everyone.

const src = 'services/inbox/src';
const tests = 'services/inbox/test';
const oracle = { test: `${tests}/oracle.test.ts`, name: 'after every step|transient failures' };
const sends = { test: `${tests}/sends.test.ts` };
const user = { test: `${tests}/user.test.ts` };

export const inboxFaults: readonly Fault[] = [
  {
    name: 'inbox-state-without-version',
    file: `${src}/mailbox/state.ts`,
    before: '    ifVersion: before.version,\n',
    after: '',
    why: "Two writers of a mailbox overwrite each other's counts",
    caughtBy: oracle,
  },
  {
    name: 'inbox-reads-counted-again',
    file: `${src}/subscriptions.ts`,
    before: 'const repeated = await writeOnce(deps, consumer, eventIds, steps);',
    after: 'const repeated = await writeOnce(deps, consumer, eventIds.map(() => deps.ids.next()), steps);',
    why: 'A page of the stream that is repeated counts its readers again',
    caughtBy: { test: `${tests}/once.test.ts` },
    isShort: true,
  },
  {
    name: 'inbox-unread-not-subtracted',
    file: `${src}/subscriptions.ts`,
    before: 'Number(change.new.readat !== null) - Number(change.old.readat !== null)',
    after: 'Number(change.new.readat !== null)',
    why: 'A message that is marked twice has two readers',
    caughtBy: { test: `${tests}/once.test.ts` },
  },
  {
    name: 'inbox-broadcast-readers-not-counted',
    file: `${src}/subscriptions.ts`,
    before: 'if (by !== 0) changes.set(id, by);',
    after: 'if (by < 0) changes.set(id, by);',
    why: 'Nobody counts as a reader of a message to everyone',
    caughtBy: sends,
  },
  {
    name: 'inbox-head-without-version',
    file: `${src}/publish/broadcasts.ts`,
    before: 'const guard = head ? { ifVersion: head.version } : { ifAbsent: true };',
    after: 'const guard = {};',
    why: 'Two messages to everyone at once count as one',
    caughtBy: { test: `${tests}/once.test.ts` },
  },
  {
    name: 'inbox-late-joiner-sees-all',
    file: `${src}/mailbox/mailbox.ts`,
    before: "if (policy === 'none') return seq;",
    after: "if (policy === 'none') return 0;",
    why: 'Who joins later sees messages that were sent before',
    caughtBy: user,
  },
  {
    name: 'inbox-joined-while-published',
    file: `${src}/mailbox/mailbox.ts`,
    before: "  if (policy === 'all') return [];\n  const unchanged",
    after: '  if (policy !== undefined) return [];\n  const unchanged',
    why: 'A message to everyone that is published while somebody joins is hidden from them or shown by mistake',
    caughtBy: { test: `${tests}/once.test.ts` },
  },
  {
    name: 'inbox-expired-shown',
    file: `${src}/mailbox/state.ts`,
    before: 'one.seq > state.joined && one.expiredat * 1000 > nowMs;',
    after: 'one.seq > state.joined && nowMs > 0;',
    why: 'A message to everyone is shown and counted after it has expired',
    caughtBy: oracle,
  },
  {
    name: 'inbox-expiry-not-counted',
    file: `${src}/mailbox/state.ts`,
    before: 'state.next_expiry !== undefined && isOver(state.next_expiry, nowMs);',
    after: 'state.next_expiry !== undefined && nowMs < 0;',
    why: 'Messages that have expired stay in the counts',
    caughtBy: { test: `${tests}/sends.test.ts` },
  },
  {
    name: 'inbox-read-stays-unread',
    file: `${src}/mailbox/state.ts`,
    before: 'unread + (flags.read ? 0 : by),',
    after: 'unread + by,',
    why: 'A message that was read counts as unread',
    caughtBy: oracle,
  },
  {
    name: 'inbox-host-id-twice',
    file: `${src}/publish/send-records.ts`,
    before: 'write.put(hostId, { ...held, fingerprint: claims.fingerprint }, guard)',
    after: 'write.put(hostId, { ...held, fingerprint: claims.fingerprint })',
    why: 'A host that repeats a message with its own id sends it twice',
    caughtBy: { test: `${tests}/host.test.ts` },
  },
  {
    name: 'inbox-request-not-kept',
    file: `${src}/publish/publish.ts`,
    before: 'const ownId = request?.id ?? ids.next();',
    after: 'const ownId = ids.next();',
    why: 'A request that is repeated after a crash sends its message again',
    caughtBy: { test: `${tests}/host.test.ts` },
  },
  {
    name: 'inbox-members-miscounted',
    file: `${src}/mailbox/mailbox.ts`,
    before: '{ add: { users: uids.length } }',
    after: '{ add: { users: 1 } }',
    why: 'The number of members follows transactions, not people',
    caughtBy: sends,
  },
];
