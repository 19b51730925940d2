import type { Fault } from '../fault.ts';

// Leases of shards, checkpoints, order, dead letters, effects that happen once.

const adversary = { test: 'packages/streams/test/adversary.test.ts', seeds: [1, 2] } as const;
const workStore = 'packages/streams/src/work/work-store.ts';
const handlePage = 'packages/streams/src/work/handle-page.ts';
const shardTask = 'packages/streams/src/work/shard-task.ts';

export const streamFaults: readonly Fault[] = [
  {
    name: 'streams-lease-without-fence',
    file: workStore,
    before: 'change, { if: { owner, fence: lease.fence } });',
    after: 'change, {});',
    why: 'A process that was suspended moves the checkpoint of the one that took over',
    caughtBy: { test: 'packages/streams/test/sharing.test.ts' },
    isShort: true,
  },
  {
    name: 'streams-lease-not-awaited',
    file: workStore,
    before: '{ upsert: true, if: and({ finished_at: is.absent }, isFree) },',
    after: '{ upsert: true, if: { finished_at: is.absent } },',
    why: 'A process takes a shard from one that is alive',
    caughtBy: { test: 'packages/streams/test/work.test.ts' },
  },
  {
    name: 'streams-finished-shard-taken',
    file: workStore,
    before: '{ upsert: true, if: and({ finished_at: is.absent }, isFree) },',
    after: '{ upsert: true, if: isFree },',
    why: 'A finished shard is read again from its start',
    caughtBy: { test: 'packages/streams/test/work.test.ts' },
  },
  {
    name: 'streams-lease-outlived',
    file: shardTask,
    before: 'clock.now() < Math.min(lease.untilMs, owners.aliveUntilMs?.() ?? lease.untilMs);',
    after: 'clock.now() < lease.untilMs + 1e12;',
    why: 'A process continues with a shard after its lease has ended',
    caughtBy: { test: 'packages/streams/test/sharing.test.ts' },
  },
  {
    name: 'streams-checkpoint-before-handling',
    file: shardTask,
    before: 'const done = await handleAll(deps, lease, page, canContinue, signal);',
    after:
      'if (page.last !== undefined) await works.checkpoint(lease, page.last, undefined); const done = await handleAll(deps, lease, page, canContinue, signal);',
    why: 'A process that dies while it handles a page loses the page',
    caughtBy: adversary,
  },
  {
    name: 'streams-records-dropped',
    file: handlePage,
    before: 'const done = records.map(record => !job.concerns(record));',
    after:
      'const told = globalThis as { told?: number }; const done = records.map(record => { told.told = (told.told ?? 0) + 1; return told.told % 100 === 0 || !job.concerns(record); });',
    why: 'One record in a hundred is not handled',
    caughtBy: adversary,
  },
  {
    name: 'streams-order-of-an-item',
    file: handlePage,
    before: 'const queue = queues.get(item);',
    after: 'const queue = queues.get(`${item} ${index}`);',
    why: 'Changes of one item are handled at the same time',
    caughtBy: { test: 'packages/streams/test/consumer.test.ts' },
  },
  {
    name: 'streams-throttling-uses-attempts',
    file: handlePage,
    before: 'if (isUnavailable(error)) passing += 1;',
    after: 'if (isUnavailable(error) && failures < 0) passing += 1;',
    why: 'A store that throttles turns records into dead letters',
    caughtBy: { test: 'packages/streams/test/dead-letters.test.ts' },
  },
  {
    name: 'streams-dead-letter-lost',
    file: handlePage,
    before: 'await job.setAside(record, error, attempt);',
    after: '',
    why: 'A record that cannot be handled is skipped without a trace',
    caughtBy: { test: 'packages/streams/test/dead-letters.test.ts' },
  },
  {
    name: 'streams-dead-letter-without-fence',
    file: workStore,
    before: '{ present: true, if: { owner, fence: lease.fence } }',
    after: '{ present: true }',
    why: 'A process that lost its shard still stores dead letters for it',
    caughtBy: { test: 'packages/streams/test/work.test.ts' },
  },
  {
    name: 'streams-marker-not-asked',
    file: 'packages/streams/src/consumers/once-per-event.ts',
    before: '{ consumer, event_id, ...times }, { ifAbsent: true })',
    after: '{ consumer, event_id, ...times })',
    why: 'An effect that is made once for each event is made for each delivery of it',
    caughtBy: { test: 'packages/streams/test/once-per-event.test.ts' },
    isShort: true,
  },
  {
    name: 'streams-child-before-parent',
    file: 'packages/streams/src/work/shard-plan.ts',
    before: '!isOver(key) && parents.every(isOver)',
    after: '!isOver(key)',
    why: 'A shard is read before the one that it continues',
    caughtBy: { test: 'packages/streams/src/work/shard-plan.test.ts' },
  },
  {
    name: 'streams-repeated-in-a-page',
    file: 'packages/streams/src/source/sequence.ts',
    before: 'if (latest !== undefined && !isAfter(sequence, latest)) return false;',
    after: 'if (through !== undefined && !isAfter(sequence, through)) return false;',
    why: 'A record that a page has twice has its effect twice',
    caughtBy: { test: 'packages/streams/test/mishaps.test.ts', name: 'that a stream repeats' },
  },
  {
    name: 'streams-repeated-from-before',
    file: 'packages/streams/src/source/sequence.ts',
    before: 'let latest = through;',
    after: "let latest = '';",
    why: 'Records before the position are handled again',
    caughtBy: { test: 'packages/streams/test/mishaps.test.ts', name: 'that a stream repeats' },
  },
];
