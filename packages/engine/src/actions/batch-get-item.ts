import {
  addUsage,
  type ConsumedCapacity,
  consumedCapacity,
  noUsage,
  readUnits,
  readUsage,
} from '../capacity.ts';
import { beginRead, type Context, type View } from '../context.ts';
import type { Projection } from '../expressions/projection.ts';
import { readItem } from '../items/read-item.ts';
import * as limits from '../limits.ts';
import { reportRead } from '../partition-usage.ts';
import { itemKey } from '../storage/keys.ts';
import type { Table } from '../storage/table.ts';
import {
  type BatchGetItemInput,
  type KeysAndAttributes,
  validateBatchGetItem,
} from '../validation/batch-get-item.ts';
import { checkBatchAliases, checkBatchDuplicates } from '../validation/duplicates.ts';
import { checkKey } from '../validation/keys.ts';
import { nameInArn } from '../validation/table-name.ts';
import type { Item } from '../values/attribute-value.ts';
import { bindProjectionOf } from './projection.ts';

type TableRequest = {
  table: Table;
  name: string;
  request: KeysAndAttributes;
  projection?: Projection;
  keys: Buffer[];
};

export function batchGetItem<T>(context: Context, input: BatchGetItemInput, view: View<T>) {
  validateBatchGetItem(input);
  const bound = Object.entries(input.RequestItems).map(([name, request]) => ({
    name,
    request,
    projection: bindProjectionOf(request),
  }));
  beginRead(
    context,
    bound.some(({ request }) => request.ConsistentRead),
  );
  const requests = bound.map(entry => prepare(context, entry));
  checkBatchAliases(
    requests.flatMap(({ table, request }) => request.Keys.map(key => ({ table, key }))),
    requests.length,
  );
  const responses: Record<string, T[]> = {};
  const unprocessed: Record<string, object> = {};
  const capacity: ConsumedCapacity[] = [];
  let bytes = 0;
  for (const { table, name, request, projection, keys } of requests) {
    const usage = noUsage('read');
    const items: T[] = [];
    const rest: Item[] = [];
    keys.forEach((key, i) => {
      if (bytes >= limits.batchGetBytes) {
        rest.push(request.Keys[i]!);
        return;
      }
      const { item, size } = readItem(context, key, view, { projection });
      bytes += size;
      if (item !== undefined) items.push(item);
      const units = readUnits(size, request.ConsistentRead);
      addUsage(usage, readUsage(units));
      if (context.onUsage) reportRead(context, table, request.Keys[i]!, units);
    });
    responses[name] = items;
    if (rest.length > 0) unprocessed[name] = { ...request, Keys: rest.map(key => view.present(key)) };
    const consumed = consumedCapacity(input.ReturnConsumedCapacity, name, usage);
    if (consumed) capacity.push(consumed);
  }
  return {
    Responses: responses,
    UnprocessedKeys: unprocessed,
    ...(capacity.length > 0 && { ConsumedCapacity: capacity }),
  };
}

function prepare(
  context: Context,
  { name, request, projection }: { name: string; request: KeysAndAttributes; projection?: Projection },
): TableRequest {
  const table = context.catalog.get(nameInArn(name));
  const keys = request.Keys.map(key => {
    checkKey(table, key);
    return itemKey(table, key);
  });
  checkBatchDuplicates(request.Keys.map(key => ({ table, key })));
  return { table, name, request, projection, keys };
}
