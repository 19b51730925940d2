import { readUnits, readUsage } from '../capacity.ts';
import { beginRead, type Context, type View } from '../context.ts';
import { project } from '../expressions/projection.ts';
import { decodeItem, decodeSize } from '../storage/codec.ts';
import { itemKey } from '../storage/keys.ts';
import type { Decode } from '../storage/store.ts';
import { type GetItemInput, validateGetItem } from '../validation/get-item.ts';
import { checkKey } from '../validation/keys.ts';
import { capacityOf } from './answer.ts';
import { bindProjectionOf } from './projection.ts';

export function getItem<T>(context: Context, input: GetItemInput, view: View<T>) {
  validateGetItem(input);
  const projection = bindProjectionOf(input);
  beginRead(context, input.ConsistentRead);
  const table = context.catalog.get(input.TableName);
  checkKey(table, input.Key);
  let size = 0;
  const decode: Decode<T> = (bytes, end) => {
    size = decodeSize(bytes);
    return projection ? view.present(project(projection, decodeItem(bytes, end))) : view.decode(bytes, end);
  };
  const item = context.store.get(itemKey(table, input.Key), decode);
  return {
    ...(item !== undefined && { Item: item }),
    ...capacityOf(input, () => readUsage(readUnits(size, input.ConsistentRead))),
  };
}
