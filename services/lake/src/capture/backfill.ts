import type { Attributes, DynamoClient } from '@stak/table';
import * as limits from '../limits.ts';
import type { Part } from '../storage/lake-table.ts';
import type { Backfill } from '../storage/manifest-state.ts';
import { type BronzeFile, bronzeFormat, bronzePath, encodeRows, firstAt, groupRows } from './bronze-file.ts';
import { type Row, snapshotOf } from './rows.ts';

// Reads what is in the table and was there before the lake was. The stream is followed from before the scan begins,
// so whatever changes meanwhile is in both, and a change of the stream always counts for more than what a scan found:
// nothing is missed, and nothing is there twice.

export const needsBackfill = (state: { generation: number; backfill: Backfill | undefined }): boolean =>
  state.generation === 0 || state.backfill !== undefined;

// A new generation. What is captured from now on belongs to it; when its scan is complete, whatever was not
// mentioned again is gone.
export async function beginBackfill({ manifest, clock }: Part): Promise<void> {
  await manifest.commit(({ backfill }) =>
    backfill ? undefined : { at: clock.now(), backfill: { begin: limits.segments } },
  );
}

// One segment of the scan, whole: a crash repeats it under the same names. False when there is none left.
export async function continueBackfill(
  part: Part,
  client: DynamoClient,
  signal?: AbortSignal,
): Promise<boolean> {
  const { manifest, clock } = part;
  const { backfill } = await manifest.read();
  if (!backfill) return false;
  const { generation, segments } = backfill;
  const segment = Array.from({ length: segments }, (_, i) => i).find(i => !backfill.finished.includes(i));
  if (segment === undefined) return false;
  const add = await scanSegment(part, client, { generation, segments, segment }, signal);
  await manifest.commit(({ backfill: now }) =>
    now?.generation === generation && !now.finished.includes(segment)
      ? { at: clock.now(), add, backfill: { finished: segment } }
      : undefined,
  );
  return true;
}

type Place = { generation: number; segments: number; segment: number };

async function scanSegment(
  part: Part,
  client: DynamoClient,
  place: Place,
  signal: AbortSignal | undefined,
): Promise<BronzeFile[]> {
  const files: BronzeFile[] = [];
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  for (let page = 0; ; page++) {
    signal?.throwIfAborted();
    const { Items = [], LastEvaluatedKey } = await client.scan({
      TableName: part.plan.table.name,
      ConsistentRead: true,
      Segment: place.segment,
      TotalSegments: place.segments,
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    });
    const rows = Items.flatMap(item => readItem(part, item));
    files.push(...(await writePage(part, place, page, rows)));
    if (!LastEvaluatedKey) return files;
    ExclusiveStartKey = LastEvaluatedKey;
  }
}

// One whose owner cannot be told is kept, and shown to nobody.
function readItem({ plan, clock, log }: Part, item: Attributes): Row[] {
  try {
    return snapshotOf(plan, item, clock.now());
  } catch (error) {
    log.error({ err: error, table: plan.table.name }, 'an item whose owner could not be told');
    const entities = new Map([...plan.entities].map(([name, one]) => [name, { ...one, ownerOf: undefined }]));
    return snapshotOf({ ...plan, entities }, item, clock.now());
  }
}

async function writePage(
  { plan, objects }: Part,
  { generation, segment }: Place,
  page: number,
  rows: readonly Row[],
): Promise<BronzeFile[]> {
  const files: BronzeFile[] = [];
  for (const { entity, day, rows: some } of groupRows(rows)) {
    const path = bronzePath(plan.table.name, entity, day, `snapshot-${generation}-${segment}-${page}`);
    const body = await encodeRows(some, 'snapshot', generation);
    await objects.put(path, body);
    const about = { rows: some.length, bytes: body.length, firstAt: firstAt(some), format: bronzeFormat };
    files.push({ path, entity, day, isChained: false, ...about });
  }
  return files;
}
