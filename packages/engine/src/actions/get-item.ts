import { type ConsumedCapacity, readUnits, readUsage } from '../capacity.ts';
import { beginRead, type Context, type View } from '../context.ts';
import { readItem } from '../items/read-item.ts';
import { reportRead } from '../partition-usage.ts';
import { itemKey } from '../storage/keys.ts';
import { type GetItemInput, validateGetItem } from '../validation/get-item.ts';
import { checkKey } from '../validation/keys.ts';
import { bindProjectionOf } from './projection.ts';
import { capacityOf } from './response.ts';

export function getItem<T>(context: Context, input: GetItemInput, view: View<T>) {
  validateGetItem(input);
  const projection = bindProjectionOf(input);
  beginRead(context, input.ConsistentRead);
  const table = context.catalog.get(input.TableName);
  checkKey(table, input.Key);
  const { item, size } = readItem(context, itemKey(table, input.Key), view, { projection });
  if (context.onUsage) reportRead(context, table, input.Key, readUnits(size, input.ConsistentRead));
  const answer: { Item?: T; ConsumedCapacity?: ConsumedCapacity } = item === undefined ? {} : { Item: item };
  return Object.assign(
    answer,
    capacityOf(input, () => readUsage(readUnits(size, input.ConsistentRead))),
  );
}
