import { addUsage, consumedCapacity, noUsage, readUnits, readUsage, type Usage } from '../capacity.ts';
import { beginRead, type Context, type View } from '../context.ts';
import { readItem } from '../items/read-item.ts';
import { reportRead } from '../partition-usage.ts';
import { itemKey } from '../storage/keys.ts';
import { checkTransactionDuplicates } from '../validation/duplicates.ts';
import { checkKey } from '../validation/keys.ts';
import { type TransactGetItemsInput, validateTransactGetItems } from '../validation/transact-get-items.ts';
import { checkTransactionSize } from '../validation/transaction-size.ts';
import { bindProjectionOf } from './projection.ts';
import { assertAllSucceeded, attempt } from './transaction.ts';

// All reads happen in one turn of the event loop, from one snapshot.
export function transactGetItems<T>(context: Context, input: TransactGetItemsInput, view: View<T>) {
  validateTransactGetItems(input);
  const bound = input.TransactItems.map(({ Get }) => ({ Get, projection: bindProjectionOf(Get) }));
  beginRead(context, true);
  const gets = bound.map(entry => ({ ...entry, table: context.catalog.get(entry.Get.TableName) }));
  const usages = new Map<string, Usage>();
  let bytes = 0;
  const attempts = gets.map(({ Get, projection, table }) =>
    attempt(() => {
      checkKey(table, Get.Key);
      const { item, size } = readItem(context, itemKey(table, Get.Key), view, { projection });
      bytes += size;
      const usage = usages.get(table.name) ?? noUsage('read');
      const units = 2 * readUnits(size, true);
      usages.set(table.name, addUsage(usage, readUsage(units)));
      if (context.onUsage) reportRead(context, table, Get.Key, units);
      return item === undefined ? {} : { Item: item };
    }),
  );
  const responses = assertAllSucceeded(attempts);
  checkTransactionDuplicates(gets.map(({ Get, table }) => ({ table, key: Get.Key })));
  checkTransactionSize(bytes);
  const capacity = [...usages].flatMap(
    ([name, usage]) => consumedCapacity(input.ReturnConsumedCapacity, name, usage, true) ?? [],
  );
  return { Responses: responses, ...(capacity.length > 0 && { ConsumedCapacity: capacity }) };
}
