import {
  type Clock,
  createNotifier,
  type Logger,
  mapInBatches,
  type Owners,
  runAtMost,
  type Worker,
  watchGone,
} from '@stak/kit';
import { createCatchUp, listShards, type StreamSource, type UnknownChange } from '@stak/streams';
import {
  type AnyTable,
  type Attributes,
  type DynamoClient,
  is,
  itemBytes,
  or,
  type Store,
  write,
} from '@stak/table';
import { inSeconds } from '../../deps.ts';
import { allCounts, readStates } from './counts.ts';
import { createKeyFilter } from './key-filter.ts';
import * as limits from './limits.ts';
import { refusable } from './meter.ts';
import { type AccountSum, createSums, type OwnedBytes, ownedItem, type Summing } from './sums.ts';
import { count, mark, type TableState, tableState } from './tables.ts';

export type RecountDeps = {
  store: Store;
  client: DynamoClient;
  source: StreamSource;
  clock: Clock;
  owners: Owners;
  log: Logger;
};

type Hold = { table: string; holder: string; generation: number };

export type Recounter = {
  // Counts each table that was never counted or whose recount was requested. One process does so at a time.
  countWhereNeeded(signal: AbortSignal): Promise<void>;
  // Repeats `countWhereNeeded`. A count that a crashed process began is started again by another one.
  worker: Worker;
};

export function createRecounter<Kind extends string>(
  deps: RecountDeps,
  tables: readonly Summing<Kind>[],
): Recounter {
  const { store, clock, log } = deps;
  const countWhereNeeded = async (signal: AbortSignal) => {
    const states = new Map((await readStates(store)).map(state => [state.table, state]));
    const wanted = tables.filter(({ table }) => isWanted(states.get(table.name)));
    const count = async (summing: Summing<Kind>) => {
      const table = summing.table.name;
      // Another process may have counted it while this one counted the table before.
      const state = await store.get(tableState, { table }, { consistent: true });
      if (!isWanted(state)) return;
      const hold = await takeHold(deps, table, state?.holder);
      if (!hold) return;
      log.info({ table }, 'counting the storage of a table');
      await whileHeld(deps, hold, signal, held => recountTable(deps, summing, hold, held));
    };
    // Until a table is counted, its changes wait. Where the stream is elsewhere, most of the time is waited for it, and
    // one table after the other would add up.
    await runAtMost(
      deps.source.position ? 1 : limits.tablesAtOnce,
      wanted.map(table => () => count(table)),
    );
  };
  return {
    countWhereNeeded,
    worker: {
      name: 'accounts-storage-recount',
      async run(signal) {
        const notifier = createNotifier(clock);
        const gone = watchGone(deps.owners, notifier.notify);
        try {
          while (!signal.aborted) {
            await countWhereNeeded(signal);
            await notifier.wait(limits.pollMs, signal);
          }
        } finally {
          gone.stop();
        }
      },
    },
  };
}

const isWanted = (state: TableState | undefined): boolean =>
  !state || state.generation === 0 || (state.requested_at ?? 0) > (state.counted_at ?? 0);

async function takeHold(
  { store, clock, owners }: RecountDeps,
  table: string,
  before: string | undefined,
): Promise<Hold | undefined> {
  const holder = owners.next();
  const isLeft = before !== undefined && (await owners.isGone(before));
  const nowMs = clock.now();
  const taken = await refusable(
    store.update(
      tableState,
      { table },
      {
        set: { holder, holder_until: nowMs + limits.leaseMs },
        setOnce: { generation: 0 },
        add: { tried: 1 },
      },
      {
        upsert: true,
        if: or(
          { holder: is.absent },
          { holder_until: is.atMost(nowMs) },
          ...(isLeft ? [{ holder: before }] : []),
        ),
      },
    ),
  );
  return taken && { table, holder, generation: taken.tried };
}

// A process that cannot renew the lease stops, because another one may have it by now.
async function whileHeld(
  { store, clock }: RecountDeps,
  { table, holder }: Hold,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const renew = async () => {
    while (!either.aborted) {
      await clock.sleep(limits.leaseMs / 3, either).catch(() => {});
      if (either.aborted) return;
      const holder_until = clock.now() + limits.leaseMs;
      await store.update(tableState, { table }, { set: { holder_until } }, { if: { holder } });
    }
  };
  const renewing = renew().catch(error => over.abort(error));
  try {
    await work(either);
  } finally {
    over.abort();
    await renewing;
  }
}

// Counts the table as of the moment when all shards of its stream are held; the meter continues from there. An item
// that changed since then is counted at the size before its first change, any other one at the size found by the scan.
// Items removed before the scan reached them are known from the stream alone.
async function recountTable<Kind extends string>(
  deps: RecountDeps,
  summing: Summing<Kind>,
  hold: Hold,
  signal: AbortSignal,
): Promise<void> {
  const { source, clock } = deps;
  const { table } = summing;
  const catchUp = createCatchUp({ source, table: table.name }, await holdMarks(deps, hold));
  await catchUp.read(() => {});
  const start = new Map(catchUp.reached());

  const sums = createSums(summing.payers);
  const scanned = createKeyFilter();
  const before = new Map<string, OwnedBytes<Kind> | undefined>(); // their states before they changed, ahead of the scan
  const note = (change: UnknownChange) => {
    const key = keyText(table, change.keys);
    if (before.has(key) || scanned.has(key)) return;
    before.set(
      key,
      ownedItem(summing, change.keys, change.oldBytes, () => change.old),
    );
  };
  for await (const items of scanTable(deps, table, signal)) {
    // By then the stream contains every write that the scan has seen.
    if (!source.position) await clock.sleep(limits.settleMs, signal);
    await catchUp.read(note);
    await mapInBatches(items, limits.itemsPerBatch, item => {
      const key = keyText(table, item);
      const isChanged = before.has(key);
      sums.add(isChanged ? before.get(key) : ownedItem(summing, item, itemBytes(item), () => item));
      before.delete(key);
      scanned.add(key);
    });
  }
  for (const owned of before.values()) sums.add(owned);
  await publishCount(deps, hold, await sums.byAccount(), start);
  await forgetOlder(deps, hold);
}

const keyText = ({ keys: { partition, sort } }: AnyTable, item: Attributes): string =>
  JSON.stringify([item[partition], sort === undefined ? null : item[sort]]);

// Stops the meter for this table. Returns how far it has counted each shard.
async function holdMarks(
  { store, clock, source }: RecountDeps,
  { table, holder }: Hold,
): Promise<Map<string, string>> {
  const positions = new Map<string, string>();
  const expires_at = inSeconds(clock.now()) + limits.markS;
  for (const { shardId: shard } of await listShards(source, table)) {
    const held = await store.update(
      mark,
      { table, shard },
      { set: { held_by: holder, expires_at }, setOnce: { through: '', generation: 0 } },
      { upsert: true },
    );
    positions.set(shard, held.through);
  }
  return positions;
}

async function* scanTable(
  { client }: RecountDeps,
  table: AnyTable,
  signal: AbortSignal,
): AsyncGenerator<Attributes[]> {
  let ExclusiveStartKey: Attributes | undefined;
  let items: Attributes[] = [];
  for (let page = 1; ; page++) {
    signal.throwIfAborted();
    const found = await client.scan({
      TableName: table.name,
      ConsistentRead: true,
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    });
    items.push(...(found.Items ?? []));
    ExclusiveStartKey = found.LastEvaluatedKey;
    if (ExclusiveStartKey && page % limits.scanPages !== 0) continue;
    yield items;
    if (!ExclusiveStartKey) return;
    items = [];
  }
}

// Writes the sums first, which nobody reads yet. One transaction then sets the positions to continue from and marks the
// sums as valid.
async function publishCount(
  { store, clock }: RecountDeps,
  { table, holder, generation }: Hold,
  sums: readonly AccountSum[],
  start: ReadonlyMap<string, string>,
): Promise<void> {
  const steps = sums.map(({ accountId, service, bytes, items }) =>
    write.put(count, { account_id: accountId, table, service, generation, slot: 'scan', bytes, items }),
  );
  if (steps.length > 0) await store.batchWrite(steps, { pattern: 'write a recount' });
  const marks = [...start].map(([shard, through]) => {
    const change = { set: { through, generation }, remove: ['held_by'] } as const;
    return [shard, write.update(mark, { table, shard }, change, { if: { held_by: holder } })] as const;
  });
  const done = write.update(
    tableState,
    { table },
    { set: { generation, counted_at: clock.now() }, remove: ['holder', 'holder_until'] },
    { if: { holder } },
  );
  // If a transaction cannot take all shards, they are released in several. The last one marks the table as counted.
  while (marks.length > limits.countsTogether) await store.transact(marks.splice(0, limits.countsTogether));
  await store.transact([...marks, ['table', done]], { pattern: 'publish a recount' });
}

async function forgetOlder({ client, store }: RecountDeps, { table, generation }: Hold): Promise<void> {
  for await (const old of allCounts(client))
    if (old.table === table && old.generation < generation) await store.delete(count, old);
}
