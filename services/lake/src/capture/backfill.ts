import type { Attributes, DynamoClient } from '@stak/table';
import type { LakeTable } from '../lake-table.ts';
import * as limits from '../limits.ts';
import { type BronzeFile, bronzeFormat, bronzePath } from '../storage/bronze-file.ts';
import type { Backfill } from '../storage/manifest-state.ts';
import { noTexts } from '../tables.ts';
import { createBronzeFiles } from './bronze-writer.ts';
import { type Row, snapshotOf, wantedRows } from './rows.ts';

// Scans the table for items that are older than the lake. Capture starts before the scan, so a change during the scan
// is in both, and a captured change always wins over a scanned item: nothing is missed, and nothing counts twice.

export const needsBackfill = (state: { generation: number; backfill: Backfill | undefined }): boolean =>
  state.generation === 0 || state.backfill !== undefined;

// Begins a new generation. Rows captured from now on belong to it. When its scan is complete, items that appeared in
// neither the scan nor the stream are gone.
export async function beginBackfill({ manifest, clock }: LakeTable): Promise<void> {
  await manifest.commit(({ backfill }) =>
    backfill ? undefined : { at: clock.now(), backfill: { begin: limits.segments } },
  );
}

// Scans one whole segment. After a crash it is scanned again into files of the same names. False when none is left.
export async function continueBackfill(
  lakeTable: LakeTable,
  client: DynamoClient,
  signal?: AbortSignal,
): Promise<boolean> {
  const { manifest, clock } = lakeTable;
  const { backfill, erasures } = await manifest.read();
  if (!backfill) return false;
  const { generation, segments } = backfill;
  const segment = Array.from({ length: segments }, (_, i) => i).find(i => !backfill.finished.includes(i));
  if (segment === undefined) return false;
  const add = await scanSegment(lakeTable, client, { generation, segments, segment }, signal);
  // Texts that were switched off and erased in the meantime are among the files: the segment is scanned again.
  const hasTexts = add.some(({ entity }) => lakeTable.plan.texts.has(entity));
  await manifest.commit(({ backfill: now, erasures: latest }) =>
    now?.generation === generation && !now.finished.includes(segment) && !(hasTexts && latest !== erasures)
      ? { at: clock.now(), add, backfill: { finished: segment } }
      : undefined,
  );
  return true;
}

type ScanSegment = { generation: number; segments: number; segment: number };

async function scanSegment(
  lakeTable: LakeTable,
  client: DynamoClient,
  scan: ScanSegment,
  signal: AbortSignal | undefined,
): Promise<BronzeFile[]> {
  const files: BronzeFile[] = [];
  let ExclusiveStartKey: Record<string, unknown> | undefined;
  const texts = await (lakeTable.plan.texts.size > 0 ? lakeTable.texts : noTexts).read();
  for (let page = 0; ; page++) {
    signal?.throwIfAborted();
    const { Items = [], LastEvaluatedKey } = await client.scan({
      TableName: lakeTable.plan.table.name,
      ConsistentRead: true,
      Segment: scan.segment,
      TotalSegments: scan.segments,
      ...(ExclusiveStartKey && { ExclusiveStartKey }),
    });
    const rows = await wantedRows(
      Items.flatMap(item => readItem(lakeTable, item, texts.isAnyOn)),
      texts,
    );
    files.push(...(await writePage(lakeTable, scan, page, rows)));
    if (!LastEvaluatedKey) return files;
    ExclusiveStartKey = LastEvaluatedKey;
  }
}

// An item whose owner is unknown is stored, but no caller sees it.
function readItem({ plan, clock, log }: LakeTable, item: Attributes, hasTexts: boolean): Row[] {
  try {
    return snapshotOf(plan, item, clock.now(), hasTexts);
  } catch (error) {
    log.error({ err: error, table: plan.table.name }, 'the owner of an item could not be determined');
    const entities = new Map([...plan.entities].map(([name, one]) => [name, { ...one, ownerOf: undefined }]));
    return snapshotOf({ ...plan, entities }, item, clock.now(), hasTexts);
  }
}

async function writePage(
  { plan, objects }: LakeTable,
  { generation, segment }: ScanSegment,
  page: number,
  rows: readonly Row[],
): Promise<BronzeFile[]> {
  const written = await createBronzeFiles('snapshot', generation);
  for (const row of rows) written.add(row);
  const files: BronzeFile[] = [];
  for (const { entity, day, rows: count, firstAt, body } of written.finish()) {
    const path = bronzePath(plan.table.name, entity, day, `snapshot-${generation}-${segment}-${page}`);
    await objects.put(path, body);
    const about = { rows: count, bytes: body.length, firstAt, format: bronzeFormat };
    files.push({ path, entity, day, isChained: false, ...about });
  }
  return files;
}
