import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine } from '@stak/engine';
import { systemClock } from '@stak/kit';
import { createConsumer, engineSource, streamsTable } from '@stak/streams';
import { createStore, createTables } from '@stak/table';
import { expect, test } from 'vitest';
import { folderObjects } from '../src/index.ts';
import { expectEveryChangeOnce, expectSameAsTable } from './evidence.ts';
import { ann, type Backend, openLake, silent, temporaryFolder, watchCapture } from './lake-fixture.ts';
import { choresTable } from './test-table.ts';

// Built from kill-child.ts before the tests, by test/build-programs.ts.
const program = fileURLToPath(new URL('../../../apps/.test/dist/kill-child.mjs', import.meta.url));

// Lives until it has written a few hundred items, and is killed in the middle of whatever it is doing then.
async function live(folder: string, round: number): Promise<void> {
  const child: ChildProcess = fork(program, [folder, String(round)], { execArgv: [] });
  for (let messages = 0; messages < 3 + round; messages++) await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('killed while it writes, captures and maintains, the lake equals the table', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'engine');
  const engine = await createEngine({ path });
  await createTables(engine, [choresTable, streamsTable]);
  await engine.close();
  for (let round = 0; round < 2; round++) await live(folder, round);

  const again = await createEngine({ path });
  const { client } = again;
  const objects = folderObjects(join(folder, 'objects'));
  const source = engineSource(again);
  const backend = {
    engine: again,
    client,
    store: createStore({ client }),
    source,
    folder,
    objects,
  } as unknown as Backend;
  const lake = openLake({ ...backend, clock: systemClock } as unknown as Backend, { flushMs: 1 });
  const stopping = new AbortController();
  const [subscription] = lake.subscriptions;
  const consumer = createConsumer({ subscription: subscription!, source, client, log: silent, leaseMs: 200 });
  const ended = consumer.run(stopping.signal);
  // Its predecessor's lease ends by itself.
  const isCaptured = watchCapture({ ...backend, clock: systemClock } as unknown as Backend);
  while (!(await isCaptured())) await systemClock.sleep(20);
  stopping.abort();
  await ended;
  const evidence = { ...backend, clock: systemClock } as unknown as Backend;
  await expectEveryChangeOnce(evidence);
  await expectSameAsTable(evidence, lake, ann, () => true);
  expect((await lake.status()).tables[0]!.bronze_rows).toBeGreaterThan(500);
  await again.close();
}, 120_000);
