import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '@stak/kit';
import {
  type CatchUp,
  createCatchUp,
  listShards,
  type StreamSource,
  type UnknownChange,
} from '@stak/streams';
import {
  type AnyEntity,
  type AnyTable,
  type Attributes,
  type BatchWrite,
  type ControlPlane,
  createTables,
  type DynamoClient,
  hasKeyOf,
  readStoredBatch,
  writeStoredBatch,
} from '@stak/table';
import { UsageError } from '../../config/errors.ts';
import { hasExpired } from './export.ts';
import { tagItem } from './format.ts';
import { hasStream, keyIn, persist, setStream } from './import.ts';

// Copies a store into another one while a server writes to it. The positions of the streams at the start of the copy
// are stored; everything that has changed since is written again, and the last image of each item wins. Every step can
// be repeated, so a migration resumes wherever it was killed. docs/adr/0102-a-store-moves-while-its-server-runs.md

type TableState = {
  positions: Record<string, string>; // by shard: the last change that the other store has
  past: string[]; // shards that had ended when it started
  next?: Attributes; // where the copy continues
  isCopied?: boolean;
};

export type MigrationState = {
  id: string;
  tables: Record<string, TableState>;
  extraStreams: string[]; // of tables that have one for the migration only
  followedMs: number; // when the streams were last read to their end
};

export type MigrationOptions = {
  from: { client: DynamoClient; control: ControlPlane; source: StreamSource };
  to: { client: DynamoClient; control: ControlPlane; source: StreamSource };
  tables: readonly AnyTable[];
  without: readonly AnyEntity[]; // entities that are specific to this store
  state: MigrationState;
  save(state: MigrationState): Promise<void>;
  clock: Clock;
  recovery: boolean;
  progress(what: string, table: string, items: number): void;
};

export type Migration = Awaited<ReturnType<typeof openMigration>>;

const flushItems = 1000; // of one table, before they are written
const atOnce = 8; // requests to the other store
const followMs = 5_000; // while tables are copied and compared, the streams are read this often
const resumeMs = 20 * 60 * 60_000; // streams keep records for a day
const touchedMost = 100_000; // keys to compare again; more are compared early

export async function openMigration(options: MigrationOptions) {
  const { from, to, tables, state, save, clock, progress } = options;
  if (clock.now() - state.followedMs > resumeMs) throw missed();
  await beginStreams(options);
  const sources = new Map(tables.map(table => [table, openSource(options, table)]));
  const copies = new Map<AnyTable, CatchUp>(); // the streams of the other store, once they are enabled
  // Keys of items that changed since the comparison started, or differed then.
  const touched = new Map<AnyTable, Map<string, Attributes>>(tables.map(table => [table, new Map()]));
  let isComparing = false;

  async function copyTable(table: AnyTable): Promise<void> {
    const own = state.tables[table.name]!;
    let items = 0;
    while (!own.isCopied) {
      const { Items = [], LastEvaluatedKey } = await from.client.scan({
        TableName: table.name,
        ConsistentRead: true,
        ...(own.next && { ExclusiveStartKey: own.next }),
      });
      const kept = Items.filter(item => isMoved(options, table, item));
      const puts = kept.map(Item => ({ PutRequest: { Item } }));
      await writeAll(options, table, puts);
      items += kept.length;
      if (LastEvaluatedKey) own.next = LastEvaluatedKey;
      else delete own.next;
      own.isCopied = LastEvaluatedKey === undefined;
      await save(state);
      progress('Copying', table.name, items);
      await keepUp();
    }
  }

  async function keepUp(): Promise<void> {
    if (clock.now() - state.followedMs >= followMs) await follow();
  }

  // Writes everything that has changed until now. Returns the number of changes.
  async function follow(): Promise<number> {
    let changes = 0;
    const startMs = clock.now();
    for (const [table, stream] of sources) {
      const keys = touched.get(table)!;
      changes += await followTable(options, table, stream, (name, key) => {
        if (isComparing) keys.set(name, key);
      });
      if (keys.size > touchedMost) await compareTouched(table);
    }
    state.followedMs = startMs;
    return changes;
  }

  // Items that are equal now, and change again, are recorded again.
  async function compareTouched(table: AnyTable): Promise<void> {
    const left = await differing(options, table, [...touched.get(table)!.values()]);
    touched.set(table, new Map(left.map(key => [nameOf(table, key), key])));
  }

  // Compares every item of both stores. Items that differ are compared again at the end.
  async function compareTable(table: AnyTable): Promise<number> {
    let items = 0;
    for (const client of [from.client, to.client])
      for await (const found of pagesOf(options, client, table)) {
        const keys = found.map(item => keyIn(table, item));
        for (const key of await differing(options, table, keys))
          touched.get(table)!.set(nameOf(table, key), key);
        if (client === from.client) items += found.length;
        progress('Comparing', table.name, items);
        await keepUp();
      }
    return items;
  }

  return {
    async copy(): Promise<void> {
      for (const table of tables) await copyTable(table);
    },
    follow,
    /** Returns the number of items of each table. */
    async compare(): Promise<Record<string, number>> {
      isComparing = true;
      const counts: Record<string, number> = {};
      for (const table of tables) counts[table.name] = await compareTable(table);
      return counts;
    },
    /** Enables the streams of the other store, which takes DynamoDB seconds, so it is done before the pause. */
    async enableStreams(): Promise<void> {
      await createTables(to.control, tables, { clock, recovery: options.recovery, expiry: false });
      for (const table of tables.filter(({ stream }) => stream !== undefined))
        copies.set(table, createCatchUp({ source: to.source, table: table.name }, new Map()));
    },
    /** Reads the changes that this migration itself has made. */
    async followCopies(): Promise<void> {
      await Promise.all([...copies.values()].map(stream => stream.read(() => {})));
    },
    /** Each shard of the table in the other store, with the last record that came from this migration. */
    async endsOf(table: AnyTable) {
      const reached = copies.get(table)?.reached();
      const shards = await listShards(to.source, table.name);
      return shards.flatMap(shard => {
        const sequence = reached?.get(shard.shardId);
        return sequence === undefined ? [] : [{ shard, sequence }];
      });
    },
    /** Repairs differences, and throws if some remain. Only while writes are paused. */
    async requireAlike(): Promise<void> {
      for (const [table, keys] of touched) {
        const unlike = await differing(options, table, [...keys.values()]);
        if (unlike.length > 0) await copyItems(options, table, unlike);
        const [first] = await differing(options, table, unlike);
        if (first)
          throw new UsageError(
            `${nameOf(table, first)} of ${table.name} is not the same in both stores; nothing was switched`,
          );
      }
    },
  };
}

function openSource({ from, state }: MigrationOptions, table: AnyTable): CatchUp {
  const { positions, past } = state.tables[table.name]!;
  const onMissed = () => {
    throw missed();
  };
  const settings = { source: from.source, table: table.name, without: past, onMissed };
  return createCatchUp(settings, new Map(Object.entries(positions)));
}

const isMoved = ({ without }: MigrationOptions, table: AnyTable, item: Attributes): boolean =>
  !without.some(entity => table.entities.includes(entity) && hasKeyOf(entity, item));

async function writeAll(
  { to, clock }: MigrationOptions,
  table: AnyTable,
  writes: readonly BatchWrite[],
): Promise<void> {
  const share = Math.max(25, Math.ceil(writes.length / atOnce));
  await Promise.all(
    slices(writes, share).map(part =>
      persist(clock, () => writeStoredBatch({ client: to.client, clock }, table, part)),
    ),
  );
}

// Writes what changed in one table. Returns the number of changes.
async function followTable(
  options: MigrationOptions,
  table: AnyTable,
  stream: CatchUp,
  onChange: (name: string, key: Attributes) => void,
): Promise<number> {
  const { state, save } = options;
  const waiting = new Map<string, BatchWrite>();
  let changes = 0;
  const flush = async () => {
    if (waiting.size > 0) await writeAll(options, table, [...waiting.values()]);
    waiting.clear();
    const positions = Object.fromEntries(stream.reached());
    if (isDeepStrictEqual(positions, state.tables[table.name]!.positions)) return;
    state.tables[table.name]!.positions = positions;
    await save(state);
  };
  const note = (change: UnknownChange) => {
    if (!isMoved(options, table, change.keys)) return;
    changes += 1;
    const name = nameOf(table, change.keys);
    const Key = keyIn(table, change.keys);
    waiting.set(name, change.new ? { PutRequest: { Item: change.new } } : { DeleteRequest: { Key } });
    onChange(name, Key);
  };
  await stream.read(note, async () => {
    if (waiting.size >= flushItems) await flush();
  });
  await flush();
  return changes;
}

// Keys of items that differ between the stores.
async function differing(
  { from, to, clock }: MigrationOptions,
  table: AnyTable,
  keys: readonly Attributes[],
): Promise<Attributes[]> {
  const read = (client: DynamoClient, part: readonly Attributes[]) =>
    persist(clock, () => readStoredBatch({ client, clock }, table, part));
  const stored = await Promise.all(
    slices(keys, Math.max(100, Math.ceil(keys.length / atOnce))).map(async part => {
      const [here, there] = await Promise.all([read(from.client, part), read(to.client, part)]);
      return part.filter((_, i) => !isAlike(table, here[i], there[i], clock.now()));
    }),
  );
  return stored.flat();
}

// A late write of this migration: it was sent twice, or by a killed process.
async function copyItems(
  options: MigrationOptions,
  table: AnyTable,
  keys: readonly Attributes[],
): Promise<void> {
  const { from, clock } = options;
  const items = await readStoredBatch({ client: from.client, clock }, table, keys);
  const writes = keys.map((Key, i) =>
    items[i] ? { PutRequest: { Item: items[i] } } : { DeleteRequest: { Key } },
  );
  await writeAll(options, table, writes);
}

async function* pagesOf(
  options: MigrationOptions,
  client: DynamoClient,
  table: AnyTable,
): AsyncGenerator<Attributes[]> {
  let ExclusiveStartKey: Attributes | undefined;
  do {
    const start = ExclusiveStartKey && { ExclusiveStartKey };
    const page = await persist(options.clock, () =>
      client.scan({ TableName: table.name, ConsistentRead: true, ...start }),
    );
    yield (page.Items ?? []).filter(item => isMoved(options, table, item));
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
}

const missed = () =>
  new UsageError(
    'changes since the last run are no longer in the streams, which hold a day: begin again with stak migrate --abandon and empty tables',
  );

// From here on every change is in a stream. A table without a stream gets one for the migration.
async function beginStreams({ from, tables, state, save }: MigrationOptions): Promise<void> {
  for (const { name } of tables) {
    if (state.tables[name]) continue;
    if (!(await hasStream(from.control, name))) {
      state.extraStreams.push(name);
      await save(state);
      await setStream(from.control, name, true);
    }
    const shards = await listShards(from.source, name);
    const newest = from.source.newest!();
    const positions: Record<string, string> = {};
    const past: string[] = [];
    for (const { shardId, isOpen } of shards)
      if (isOpen) positions[shardId] = newest;
      else past.push(shardId);
    state.tables[name] = { positions, past };
    await save(state);
  }
}

const nameOf = (table: AnyTable, item: Attributes): string =>
  JSON.stringify(Object.values(keyIn(table, item)));

// Either store may remove expired items, at its own time.
const isAlike = (
  table: AnyTable,
  here: Attributes | undefined,
  there: Attributes | undefined,
  nowMs: number,
): boolean => {
  const live = (item: Attributes | undefined) =>
    item && !hasExpired(table, item, nowMs) ? tagItem(item) : undefined;
  return isDeepStrictEqual(live(here), live(there));
};

function slices<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
