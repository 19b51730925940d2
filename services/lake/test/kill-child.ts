import { join } from 'node:path';
import { createEngine } from '@stak/engine';
import { createIds, createLogger, createSealer, systemClock } from '@stak/kit';
import { createConsumer, engineSource } from '@stak/streams';
import { createStore } from '@stak/table';
import { createLake, folderObjects } from '../src/index.ts';
import { chore, followed, newChore } from './test-table.ts';

// Writes, captures and keeps without end, until it is killed. Tells its parent what has been acknowledged.

const [folder = '', round = ''] = process.argv.slice(2);
const clock = systemClock;
const log = createLogger({ level: 'silent' });
const engine = await createEngine({ path: join(folder, 'engine') });
const { client } = engine;
const store = createStore({ client });
const source = engineSource(engine);
const objects = folderObjects(join(folder, 'objects'));
const lake = createLake({
  store,
  clock,
  ids: createIds({ clock }),
  log,
  client,
  source,
  objects,
  scratch: join(folder, 'scratch'),
  tables: [followed],
  tenantsOf: async () => [],
  sealer: createSealer({ keys: [{ id: 'one', secret: 'a secret that is long enough for a seal' }] }),
  publicUrl: 'http://127.0.0.1',
  flushMs: 5,
});
const forever = new AbortController().signal;
for (const subscription of lake.subscriptions)
  void createConsumer({ subscription, source, client, log, leaseMs: 200 }).run(forever);
for (const worker of lake.workers) void worker.run(forever);

for (let i = 0; ; i++) {
  await store.put(chore, newChore('usr_ann', `${round}-${i % 50}`, { title: `${round} ${i}` }));
  if (i % 7 === 0) await store.delete(chore, { user_id: 'usr_ann', task_id: `${round}-${i % 50}` });
  if (i % 100 === 99) process.send?.(i);
}
