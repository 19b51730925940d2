import { addUsage, consumedCapacity, noUsage, writeUsage } from '../capacity.ts';
import type { Context, View } from '../context.ts';
import { applyDecision, decide, type Outcome, type Plan, planDelete, planPut } from '../items/write-plan.ts';
import type { Tx } from '../storage/committer.ts';
import {
  type BatchWriteItemInput,
  validateBatchWriteItem,
  type WriteRequest,
} from '../validation/batch-write-item.ts';
import { checkBatchAliases, checkBatchDuplicates } from '../validation/duplicates.ts';
import { checkBatchItemKeys } from '../validation/keys.ts';
import { nameInArn } from '../validation/table-name.ts';
import type { Item } from '../values/attribute-value.ts';
import { type ItemCollectionMetrics, itemCollectionMetrics } from './item-collection.ts';

// The requests of one call share a transaction, so all of them are stored or none. DynamoDB does not guarantee this,
// and callers must not rely on it.
export async function batchWriteItem<T>(context: Context, input: BatchWriteItemInput, view: View<T>) {
  validateBatchWriteItem(input);
  const names = Object.keys(input.RequestItems);
  const prepare = () => {
    const groups = names.map(name => planRequests(context, name, input.RequestItems[name]!));
    checkBatchAliases(
      groups.flatMap((plans, i) =>
        plans.map((plan, n) => ({
          table: plan.table,
          key: targetOf(input.RequestItems[names[i]!]![n]!),
        })),
      ),
      names.length,
    );
    return groups;
  };
  const prepared = prepare();
  return context.submit(tx => {
    // If a table has changed in the meantime, its requests are checked again.
    const isCurrent = names.every(
      (name, i) => context.catalog.get(nameInArn(name)) === prepared[i]![0]!.table,
    );
    const plans = isCurrent ? prepared : prepare();
    const written = plans.map(group => writeAll(context, tx, group));
    const capacity = names.flatMap((name, i) => capacityOf(input, name, written[i]!) ?? []);
    return {
      UnprocessedItems: {},
      ...(capacity.length > 0 && { ConsumedCapacity: capacity }),
      ...collectionMetrics(input, names, plans, view),
    };
  });
}

function planRequests(context: Context, name: string, requests: WriteRequest[]): Plan[] {
  const table = context.catalog.get(nameInArn(name));
  const plans = requests.map(({ PutRequest, DeleteRequest }) =>
    PutRequest
      ? planPut(table, PutRequest.Item, {}, checkBatchItemKeys)
      : planDelete(table, DeleteRequest!.Key, {}),
  );
  checkBatchDuplicates(requests.map(request => ({ table, key: targetOf(request) })));
  return plans;
}

const targetOf = ({ PutRequest, DeleteRequest }: WriteRequest): Item =>
  PutRequest ? PutRequest.Item : DeleteRequest!.Key;

type PlannedWrite = { plan: Plan; outcome: Outcome };

function writeAll(context: Context, tx: Tx, plans: Plan[]): PlannedWrite[] {
  return plans.map(plan => {
    const outcome = decide(context, plan);
    applyDecision(context, tx, plan, outcome);
    return { plan, outcome };
  });
}

function capacityOf(
  { ReturnConsumedCapacity: mode }: BatchWriteItemInput,
  name: string,
  written: PlannedWrite[],
) {
  if (mode !== 'TOTAL' && mode !== 'INDEXES') return undefined;
  const usage = noUsage('write');
  for (const { plan, outcome } of written) {
    addUsage(usage, writeUsage(plan.table, outcome.before, outcome.after));
  }
  return consumedCapacity(mode, name, usage);
}

function collectionMetrics<T>(input: BatchWriteItemInput, names: string[], plans: Plan[][], view: View<T>) {
  if (input.ReturnItemCollectionMetrics !== 'SIZE') return undefined;
  const byTable: Record<string, ItemCollectionMetrics<T>[]> = {};
  names.forEach((name, i) => {
    const metrics = input.RequestItems[name]!.flatMap(
      request =>
        itemCollectionMetrics(input, plans[i]![0]!.table, targetOf(request), view)?.ItemCollectionMetrics ??
        [],
    );
    if (metrics.length > 0) byTable[name] = metrics;
  });
  return { ItemCollectionMetrics: byTable };
}
