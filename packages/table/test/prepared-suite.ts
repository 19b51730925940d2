import { createEngine, type Engine } from '@stak/engine';
import { manualClock, seededRandom } from '@stak/kit';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type AnyTable,
  createLedger,
  createStore,
  createTables,
  type DynamoClient,
  type Ledger,
  type Store,
} from '../src/index.ts';
import { itemOf, requestOf } from './random-requests.ts';

// Prepared operations must have the results, errors, costs and effects of the wire operations. Random requests are made
// of two engines in memory, one of which has no prepared operations.

const startMs = Date.UTC(2030, 0, 1);

type Side = {
  engine: Engine;
  store: Store;
  ledger: Ledger;
  usage: object[];
  wireCalls(): number;
};

const operations = [
  'get',
  'put',
  'update',
  'delete',
  'query',
  'scan',
  'batchGet',
  'batchWrite',
  'transactGet',
  'transactWrite',
] as const satisfies (keyof DynamoClient)[];

async function openSide(
  table: AnyTable,
  clock: ReturnType<typeof manualClock>,
  isPrepared: boolean,
): Promise<Side> {
  const usage: object[] = [];
  const onUsage = (one: object) => void usage.push(one);
  const engine = await createEngine({ path: ':memory:', clock, sweepIntervalMs: 0, onUsage });
  await createTables(engine, [table]);
  const ledger = createLedger();
  let wireCalls = 0;
  const client = Object.fromEntries(
    operations.map(name => {
      const call = engine.client[name] as (input: unknown) => unknown;
      const counted = (input: unknown) => {
        wireCalls += 1;
        return call(input);
      };
      return [
        name,
        isPrepared ? Object.assign(counted, { prepared: engine.client[name].prepared }) : counted,
      ];
    }),
  ) as unknown as DynamoClient;
  const store = createStore({ client, clock, random: seededRandom(1), ledger });
  return { engine, store, ledger, usage, wireCalls: () => wireCalls };
}

// Bytes are returned in several classes, and undefined is not stored.
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString('base64') };
  if (value instanceof Set) return { set: [...value].map(plain).sort() };
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, plain(one)]),
  );
}

function failure(error: unknown): unknown {
  if (!(error instanceof Error)) throw error;
  const { name, message, code, details, cause } = error as Error & { code?: unknown; details?: unknown };
  const reasons = (cause as { CancellationReasons?: { Code: string; Message?: string }[] } | undefined)
    ?.CancellationReasons;
  return plain({
    name,
    message,
    code,
    details,
    cause: cause instanceof Error ? { name: cause.name, message: cause.message } : undefined,
    reasons: reasons?.map(({ Code, Message }) => ({ Code, Message })),
  });
}

const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.then(result => ({ result: plain(result) }), failure);

// Everything that is stored, as far as it does not depend on the order of attributes.
async function contents({ engine, ledger, usage }: Side, table: AnyTable): Promise<unknown> {
  const scans = await Promise.all(
    [undefined, ...Object.keys(table.indexes)].map(async IndexName => {
      const { Items } = await engine.client.scan({ TableName: table.name, ...(IndexName && { IndexName }) });
      return Items?.map(plain);
    }),
  );
  const { items, indexEntries, ttlEntries, logRecords, problems } = engine.check();
  const { Table } = (await engine.execute('DescribeTable', { TableName: table.name })) as {
    Table: Record<string, unknown> & { GlobalSecondaryIndexes?: Record<string, unknown>[] };
  };
  return {
    scans,
    counts: { items, indexEntries, ttlEntries, logRecords },
    problems,
    sizes: [Table, ...(Table.GlobalSecondaryIndexes ?? [])].map(
      ({ ItemCount, TableSizeBytes, IndexSizeBytes }) => ({
        ItemCount,
        TableSizeBytes,
        IndexSizeBytes,
      }),
    ),
    ledger: ledger.entries(),
    usage,
    records: table.stream ? await recordsOf(engine, table) : [],
  };
}

async function recordsOf(engine: Engine, table: AnyTable): Promise<unknown[]> {
  const streams = (await engine.execute('ListStreams', { TableName: table.name })) as {
    Streams: { StreamArn: string }[];
  };
  const { StreamArn } = streams.Streams[0]!;
  const { StreamDescription } = (await engine.execute('DescribeStream', { StreamArn })) as {
    StreamDescription: { Shards: { ShardId: string }[] };
  };
  const { ShardId } = StreamDescription.Shards[0]!;
  const { ShardIterator } = (await engine.execute('GetShardIterator', {
    StreamArn,
    ShardId,
    ShardIteratorType: 'TRIM_HORIZON',
  })) as { ShardIterator: string };
  const { Records } = (await engine.execute('GetRecords', { ShardIterator })) as {
    Records: Record<string, unknown>[];
  };
  return Records.map(({ eventName, userIdentity, dynamodb }) => plain({ eventName, userIdentity, dynamodb }));
}

/** Makes random requests of the table in both forms, and compares everything. */
export function testPrepared(table: AnyTable, { runs, requests }: { runs: number; requests: number }): void {
  it(`has the effects of the wire operations on ${table.name}`, { timeout: 300_000 }, async () => {
    let made = 0;
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(fc.gen(), async gen => {
        const draw = <T>(arbitrary: fc.Arbitrary<T>): T => gen(() => arbitrary);
        const clock = manualClock(startMs);
        const prepared = await openSide(table, clock, true);
        const wire = await openSide(table, clock, false);
        try {
          for (let i = 0; i < requests; i++) {
            const { name, run } = requestOf(draw, table);
            const [one, other] = await Promise.all([outcome(run(prepared.store)), outcome(run(wire.store))]);
            expect(one, name).toEqual(other);
          }
          made += wire.wireCalls();
          sent += prepared.wireCalls();
          expect(await contents(prepared, table)).toEqual(await contents(wire, table));
          expect(prepared.engine.check().problems).toEqual([]);
          // What has expired is removed from both.
          await clock.advance(5_000_000_000_000);
          expect(await prepared.engine.sweep()).toBe(await wire.engine.sweep());
          expect(await contents(prepared, table)).toEqual(await contents(wire, table));
        } finally {
          await prepared.engine.close();
          await wire.engine.close();
        }
      }),
      // A run takes too long to look for a shorter one that fails.
      { numRuns: runs, endOnFailure: true, interruptAfterTimeLimit: 240_000 },
    );
    // Enough requests used their prepared form, or nothing was compared. `testCoverage` names the forms that must exist.
    expect(made - sent).toBeGreaterThan(made / 5);
  });
}

/** The usual requests to every entity and query are not sent as wire operations. */
export function testCoverage(table: AnyTable, exceptions: ReadonlySet<string> = new Set()): void {
  it(`has prepared forms of the usual requests to ${table.name}`, async () => {
    const clock = manualClock(startMs);
    const { engine, store, wireCalls } = await openSide(table, clock, true);
    const first = <T>(arbitrary: fc.Arbitrary<T>): T => fc.sample(arbitrary, { numRuns: 1, seed: 1 })[0]!;
    for (const entity of table.entities) {
      if (exceptions.has(entity.name)) continue;
      const item = { ...itemOf(first, entity) };
      await store.put(entity, item);
      await store.put(entity, item, { ifAbsent: true }).catch(() => undefined);
      await store.get(entity, item as never);
      await store.batchGet([{ entity, key: item as never }]);
      await store.transactGet({ one: { entity, key: item as never } });
      await store.delete(entity, item as never);
      expect(wireCalls(), entity.name).toBe(0);
    }
    await engine.close();
  });
}
