import { beginRead, type Context, type View } from '../context.ts';
import { validationError } from '../errors.ts';
import { assertAllUsed } from '../expressions/scope.ts';
import { type Page, type PageRequest, readPage, readSegment } from '../items/page.ts';
import { findIndex, pageUsage, resumeAfter, visibleThrough } from '../items/read-request.ts';
import { head, itemKey, partitionHash, prefixRange, space } from '../storage/keys.ts';
import type { Table } from '../storage/table.ts';
import { type ScanInput, validateScan } from '../validation/scan.ts';
import { checkStartKey } from '../validation/start-key.ts';
import type { Item } from '../values/attribute-value.ts';
import { bindReadExpressions } from './read-expressions.ts';
import { pageResponse } from './response.ts';

export function scan<T>(context: Context, input: ScanInput, view: View<T>) {
  validateScan(input);
  const { scope, filter, projection } = bindReadExpressions(input, input.ScanFilter);
  assertAllUsed(scope);
  beginRead(context, input.ConsistentRead);
  const table = context.catalog.get(input.TableName);
  const index = findIndex(table, input, 'Scan');
  if (input.ExclusiveStartKey) checkStartKey(table, index, input.ExclusiveStartKey);
  const owns = segmentOf(input);
  if (owns && input.ExclusiveStartKey) checkSegment(input, table, input.ExclusiveStartKey, owns);
  const visibility = visibleThrough(table, index, input, projection);
  const bounds = prefixRange(index ? head(space.index, index.id) : head(space.item, table.id));
  const request: PageRequest = {
    table,
    index,
    range: resumeAfter(bounds, table, index, input.ExclusiveStartKey, false),
    limit: input.Limit,
    visible: visibility.visible,
    filter,
    projection,
    countOnly: input.Select === 'COUNT',
  };
  const answer = (page: Page<T>) =>
    pageResponse(input, page, view, () => pageUsage(index, input, visibility, page));
  return owns
    ? readSegment(context, { ...request, owns }, view).then(answer)
    : answer(readPage(context, request, view));
}

function segmentOf({ Segment, TotalSegments }: ScanInput): ((key: Buffer) => boolean) | undefined {
  if (TotalSegments === undefined || TotalSegments === 1) return undefined;
  return key => partitionHash(key) % TotalSegments === Segment;
}

function checkSegment(input: ScanInput, table: Table, start: Item, owns: (key: Buffer) => boolean): void {
  if (owns(itemKey(table, start))) return;
  throw validationError(
    'The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct ' +
      `Segment. TotalSegments: ${input.TotalSegments} Segment: ${input.Segment}`,
  );
}
