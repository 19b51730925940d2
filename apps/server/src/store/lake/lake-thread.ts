import assert from 'node:assert';
import { parentPort, workerData } from 'node:worker_threads';
import {
  collectGarbage,
  createIds,
  createLogger,
  lowerPriority,
  superviseWorkers,
  systemClock,
} from '@stak/kit';
import { createLakeMaintenance } from '@stak/lake/maintenance';
import { createConsumer } from '@stak/streams';
import { createLedger, createStore, type DynamoClient } from '@stak/table';
import { openDatabase } from '../database.ts';
import type { FromThread, LakeThreadData, ToThread } from './lake-host.ts';
import { openObjects } from './lake-objects.ts';
import { followed, insights } from './lake-tables.ts';
import { createTexts } from './lake-texts.ts';

// The thread of the lake's maintenance: capture, compaction, repair, retention and erasure. It opens the store itself
// and serves no requests, so no caller waits for it. `lake-host.ts` starts it.

assert(parentPort, 'this file is started as a thread');
const port = parentPort;
const {
  store: storeConfig,
  location,
  scratch,
  logLevel,
  checkpointMs,
  restAfterMs,
} = workerData as LakeThreadData;
const post = (message: FromThread): void => port.postMessage(message);

const reportMs = 1000; // metrics are scraped every few seconds
const tidyUpAfterMs = 15_000; // without a new record: compactions that follow the last one are over
lowerPriority();
const clock = systemClock;
const log = createLogger({ level: logLevel, destination: { write: line => post({ kind: 'log', line }) } });
const answers = new Map<number, (answer: Extract<ToThread, { kind: 'answer' }>) => void>();
const ledger = createLedger();
const database = await openDatabase(storeConfig, {
  clock,
  isReader: true,
  onError: (error, work) => log.error({ err: error, work }, 'the engine failed at its own work'),
});
const isEmbedded = storeConfig.kind === 'embedded';
const client = withUnits(isEmbedded ? withWritesElsewhere(database.client) : database.client);
const objects = openObjects(location);
const store = createStore({ client, clock, ledger });
const lake = createLakeMaintenance({
  store,
  clock,
  ids: createIds({ clock }),
  log,
  client,
  source: database.source,
  owners: database.owners,
  objects,
  scratch,
  tables: followed,
  insights,
  texts: createTexts(store),
});
const consumers = lake.subscriptions.map(subscription =>
  createConsumer({
    subscription,
    source: database.source,
    client,
    owners: database.owners,
    log,
    clock,
    checkpointMs,
  }),
);
let wakes = 0;
let isStopping = false;
port.on('message', (message: ToThread) => {
  if (message.kind === 'wake') {
    wakes += 1;
    lake.wake();
  }
  if (message.kind === 'stop') void stop();
  if (message.kind === 'answer') {
    answers.get(message.id)?.(message);
    answers.delete(message.id);
  }
});
const workers = superviseWorkers([...consumers, ...lake.workers], { clock, log });
const quiet = watchQuiet();
const reporting = setInterval(report, reportMs);
report();

function report(): void {
  quiet.look();
  post({
    kind: 'report',
    workers: workers.states(),
    consumers: consumers.map(({ name, counters, shards }) => ({
      name,
      counters: counters(),
      shards: shards(),
    })),
    units: ledger.entries(),
  });
  if (isStopping || !quiet.mayRest()) return;
  post({ kind: 'rest', since: quiet.since(), wakes });
  void stop();
}

// V8 keeps memory until it needs more, so an idle thread would hold its last page for ever: half of its heap. It is
// collected once, after a while without new records. Later the thread ends: everything up to `since` is captured, because
// no record was handled after it and nothing failed.
function watchQuiet() {
  const countWork = () =>
    consumers.reduce((sum, { counters }) => sum + counters().records + counters().failures, 0);
  let [last, reports, since] = [-1, 0, 0];
  return {
    look(): void {
      const now = countWork();
      reports = now === last ? reports + 1 : 0;
      last = now;
      if (reports === 0) since = database.source.position?.() ?? 0;
      if (reports === tidyUpAfterMs / reportMs) collectGarbage();
    },
    mayRest: (): boolean =>
      restAfterMs !== undefined &&
      reports * reportMs >= restAfterMs &&
      lake.isIdle() &&
      consumers.every(({ shards }) => shards() > 0),
    since: () => since,
  };
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await workers.stop();
  clearInterval(reporting);
  report();
  lake.close();
  objects.close();
  await database.close();
  port.close();
}

// A thread that ends in the middle of a write transaction keeps LMDB's lock, and everything waits for it for ever. So
// this one only reads, and its few writes, for its checkpoints, are made by the thread that started it.
function withWritesElsewhere(reading: DynamoClient): DynamoClient {
  let last = 0;
  const send = (operation: keyof DynamoClient) => (input: unknown) =>
    new Promise<never>((resolve, reject) => {
      last += 1;
      answers.set(last, ({ failure, output }) =>
        failure ? reject(Object.assign(new Error(failure.message), failure)) : resolve(output as never),
      );
      post({ kind: 'write', id: last, operation, input });
    });
  return {
    ...reading,
    put: send('put'),
    update: send('update'),
    delete: send('delete'),
    batchWrite: send('batchWrite'),
    transactWrite: send('transactWrite'),
  };
}

// On AWS, the lake's costs are in the ledger like all others.
function withUnits(calling: DynamoClient): DynamoClient {
  const isRead = new Set(['get', 'query', 'scan', 'batchGet', 'transactGet']);
  const booked = Object.entries(calling).map(([operation, call]) => [
    operation,
    async (input: object) => {
      const send = call as (input: object) => Promise<{ ConsumedCapacity?: never }>;
      const output = await send({ ...input, ReturnConsumedCapacity: 'TOTAL' });
      const pattern = operation === 'scan' ? 'lake: read a table again' : 'lake: places in the streams';
      ledger.record(isRead.has(operation) ? 'read' : 'write', pattern, output.ConsumedCapacity);
      return output;
    },
  ]);
  return Object.fromEntries(booked) as DynamoClient;
}
