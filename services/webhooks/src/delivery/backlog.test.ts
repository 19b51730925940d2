import { createIds, createLogger, manualClock } from '@stak/kit';
import { createStore, type DynamoClient } from '@stak/table';
import { expect, it } from 'vitest';
import { openTables } from '../../test/webhooks-fixture.ts';
import * as limits from '../limits.ts';
import { createSourceCache } from '../sources/source-cache.ts';
import { backlog } from '../tables.ts';
import { createBacklogs, runBacklog } from './backlog.ts';
import { createQueueShards } from './due-shards.ts';

const of = { connectionId: 'conn_1', sourceId: 'src_1', userId: 'usr_1' };

it('a backlog that is marked while it is looked at does not count as empty before that', async () => {
  const clock = manualClock();
  const { client } = await openTables('embedded', clock);
  let onLook = async () => {};
  const watched: DynamoClient = {
    ...client,
    async query(input) {
      if (input.IndexName === 'GSI2') await onLook();
      return client.query(input);
    },
  };
  const store = createStore({ client: watched, clock });
  const log = createLogger({ level: 'silent' });
  const dueShards = createQueueShards({ store, clock, log });
  const base = { store, clock, log, dueShards, ids: createIds({ clock }), random: () => 0 };
  const secrets = { seal: (secret: string) => secret };
  const dispatcher = { offer: () => 'taken' as const, waiting: () => 0, isSlow: () => false };
  const deps = {
    ...base,
    sourceCache: createSourceCache({ ...base, secrets, hasLateIndexes: false }),
    dispatcher,
  };
  const backlogs = createBacklogs(base);
  const run = () => runBacklog(deps, of.connectionId, 'own_1', new AbortController().signal);
  const read = () => store.get(backlog, { connectionId: of.connectionId });

  await backlogs.ensureScheduled(of);
  await clock.advance(limits.backlogPauseMs);
  await run();
  const first = await read();
  expect(first).toMatchObject({ emptyAt: clock.now(), dueAt: clock.now() + limits.backlogIdleMs });

  await clock.advance(limits.backlogIdleMs);
  onLook = () => backlogs.ensureScheduled(of);
  await run();
  expect((await read())!.emptyAt).toBeUndefined();
  expect((await read())!.owner).toBeUndefined();
});
