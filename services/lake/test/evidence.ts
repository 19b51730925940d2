import type { AccountPrincipal, EndUserPrincipal } from '@stak/http';
import { parquetReadObjects } from 'hyparquet';
import { expect } from 'vitest';
import { openManifest } from '../src/storage/manifest.ts';
import { type Backend, type OpenLake, readObjects } from './lake-fixture.ts';

// What the lake holds, read by another library than the ones that wrote it, and what it ought to hold.

export type BronzeRow = {
  kind: string;
  key: string;
  sequence: string;
  generation: number;
  event_id: string;
  at: Date;
  account_id: string | null;
  tenant_id: string | null;
  user_id: string | null;
  old: string | null;
  new: string | null;
};

export async function readParquet<Row>(body: Uint8Array): Promise<Row[]> {
  const file = body.buffer.slice(body.byteOffset, body.byteOffset + body.byteLength) as ArrayBuffer;
  return (await parquetReadObjects({ file })) as Row[];
}

// Whether any object says so, wherever it lies and whichever its form.
export async function mentions({ objects }: Pick<Backend, 'objects'>, text: string): Promise<boolean> {
  for (const key of await readObjects(objects, '')) {
    const body = Buffer.from((await objects.get(key))!);
    const content = key.endsWith('.parquet') ? await readParquet(body) : body.toString();
    const plain = JSON.stringify(content, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    if (plain.includes(text) || body.includes(text)) return true;
  }
  return false;
}

export const readState = ({ objects, clock }: Backend) => openManifest(objects, 'chores', clock).read();

export async function readBronze(backend: Backend): Promise<BronzeRow[]> {
  const rows: BronzeRow[] = [];
  for (const { path, rows: count } of (await readState(backend)).files.values()) {
    const found = await readParquet<BronzeRow>((await backend.objects.get(path))!);
    expect(found.length, path).toBe(count);
    rows.push(...found);
  }
  return rows;
}

// Every record the stream has, as ids. A description has a hundred shards at most.
async function readStream({ source }: Backend): Promise<string[]> {
  const ids: string[] = [];
  const { Streams = [] } = await source.listStreams({ TableName: 'chores' });
  for (const { StreamArn } of Streams) {
    let after: string | undefined;
    do {
      const part = { StreamArn: StreamArn!, ExclusiveStartShardId: after };
      const { StreamDescription } = await source.describeStream(part);
      for (const { ShardId } of StreamDescription?.Shards ?? [])
        ids.push(...(await readShard(source, StreamArn!, ShardId!)));
      after = StreamDescription?.LastEvaluatedShardId;
    } while (after !== undefined);
  }
  return ids;
}

async function readShard(source: Backend['source'], StreamArn: string, ShardId: string): Promise<string[]> {
  const ids: string[] = [];
  const start = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' as const };
  let { ShardIterator } = await source.getShardIterator(start);
  while (ShardIterator) {
    const { Records = [], NextShardIterator } = await source.getRecords({ ShardIterator });
    ids.push(...Records.map(record => record.eventID!));
    ShardIterator = Records.length > 0 ? (NextShardIterator ?? undefined) : undefined;
  }
  return ids;
}

// No change is missing, none is there twice.
export async function expectEveryChangeOnce(backend: Backend): Promise<void> {
  const captured = (await readBronze(backend))
    .filter(row => row.kind !== 'snapshot')
    .map(row => row.event_id);
  expect(captured.sort()).toEqual((await readStream(backend)).sort());
}

type Caller = AccountPrincipal | EndUserPrincipal;

// A caller's rows in the lake equal their items in the table.
export async function expectSameAsTable(
  backend: Backend,
  lake: OpenLake,
  caller: Caller,
  isHis: (userId: string) => boolean,
): Promise<void> {
  const { Items = [] } = await backend.client.scan({ TableName: 'chores', ConsistentRead: true });
  const stored = Items.filter(item => String(item.sk).startsWith('TASK#') && isHis(item.user_id)).map(
    item => [item.user_id, item.task_id, item.title, item.status, item.completed_at ?? null],
  );
  const sql = 'select user_id, task_id, title, status, completed_at from tasks';
  const { rows } = await lake.query(caller, sql);
  const order = (all: unknown[][]) => all.map(row => JSON.stringify(row)).sort();
  expect(order(rows)).toEqual(order(stored));
}
