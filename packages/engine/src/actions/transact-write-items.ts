import {
  addUsage,
  type CapacityMode,
  type ConsumedCapacity,
  consumedCapacity,
  doubled,
  noUsage,
  readUnits,
  readUsage,
  type Usage,
  writeUsage,
} from '../capacity.ts';
import type { Context, View } from '../context.ts';
import { assertAllUsed, createScope } from '../expressions/scope.ts';
import { bindUpdate, type Update } from '../expressions/update.ts';
import { guardIn } from '../items/guard.ts';
import {
  applyDecision,
  decide,
  type Guard,
  type Outcome,
  type Plan,
  planCheck,
  planDelete,
  planPut,
  planUpdate,
} from '../items/write-plan.ts';
import { decodeSize } from '../storage/codec.ts';
import { itemKey } from '../storage/keys.ts';
import { checkTransactionDuplicates } from '../validation/duplicates.ts';
import {
  type TransactWriteItem,
  type TransactWriteItemsInput,
  validateTransactWriteItems,
} from '../validation/transact-write-items.ts';
import type { Item } from '../values/attribute-value.ts';
import { answerOnce } from './client-token.ts';
import { type ItemCollectionMetrics, itemCollectionMetrics } from './item-collection.ts';
import { assertAllSucceeded, attempt } from './transaction.ts';

type Decision = { plan: Plan; outcome: Outcome };
export type BoundWrite = { tableName: string; target: Item; plan(table: Plan['table']): Plan };

export async function transactWriteItems<T>(context: Context, input: TransactWriteItemsInput, view: View<T>) {
  const writes: BoundWrite[] = [];
  validateTransactWriteItems(input, item => writes.push(bindWrite(item)));
  for (const write of writes) context.catalog.get(write.tableName);
  return context.submit(tx =>
    answerOnce(
      context,
      tx,
      input.ClientRequestToken,
      input.TransactItems,
      () => {
        const decisions = writeTogether(context, tx, writes);
        return Object.assign(
          {},
          transactionCapacity(input.ReturnConsumedCapacity, decisions),
          collectionMetrics(context, input, writes, view),
        );
      },
      () => ({ ...replayCapacity(context, input.ReturnConsumedCapacity, writes) }),
    ),
  );
}

function bindWrite({ ConditionCheck, Put, Update, Delete }: TransactWriteItem): BoundWrite {
  const action = (ConditionCheck ?? Put ?? Update ?? Delete)!;
  const scope = createScope(action.ExpressionAttributeNames, action.ExpressionAttributeValues);
  const update = Update && bindUpdate(Update.UpdateExpression, scope);
  const guard = guardIn(action, scope);
  assertAllUsed(scope);
  const target = 'Item' in action ? action.Item : action.Key;
  return {
    tableName: action.TableName,
    target,
    plan: planner({ ConditionCheck, Put, Update, Delete }, update, guard),
  };
}

function planner(
  { ConditionCheck, Put, Delete, Update }: TransactWriteItem,
  update: Update | undefined,
  guard: Guard,
) {
  return (table: Plan['table']): Plan => {
    if (Put) return planPut(table, Put.Item, guard);
    if (Update) return planUpdate(table, Update.Key, update!, guard);
    if (Delete) return planDelete(table, Delete.Key, guard);
    return planCheck(table, ConditionCheck!.Key, guard);
  };
}

// Decides every write before the first one is made; throws the cancellation reasons if any is refused.
export function writeTogether(
  context: Context,
  tx: Parameters<typeof applyDecision>[1],
  writes: BoundWrite[],
): Decision[] {
  const tables = writes.map(write => context.catalog.get(write.tableName));
  const planned = writes.map((write, i) => attempt(() => write.plan(tables[i]!)));
  checkTransactionDuplicates(
    writes.flatMap(({ target }, i) => ('value' in planned[i]! ? [{ table: tables[i]!, key: target }] : [])),
  );
  const decided = planned.map(result =>
    'error' in result
      ? result
      : attempt(() => ({ plan: result.value, outcome: decide(context, result.value) })),
  );
  const decisions = assertAllSucceeded(decided);
  for (const { plan, outcome } of decisions) applyDecision(context, tx, plan, outcome, 2);
  return decisions;
}

// A retry with the same client token only reads, and is billed for that.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
export function replayCapacity(
  context: Context,
  mode: CapacityMode,
  writes: BoundWrite[],
): { ConsumedCapacity: ConsumedCapacity[] } | undefined {
  if (mode !== 'TOTAL' && mode !== 'INDEXES') return undefined;
  const usages = new Map<string, Usage>();
  for (const { tableName, target } of writes) {
    const table = context.catalog.get(tableName);
    const size = context.store.get(itemKey(table, target), decodeSize) ?? 0;
    const usage = usages.get(tableName) ?? noUsage('read');
    usages.set(tableName, addUsage(usage, readUsage(readUnits(size, true))));
  }
  return capacityByTable(mode, usages);
}

// Computed only if it is requested.
export function transactionCapacity(
  mode: CapacityMode,
  decisions: Decision[],
): { ConsumedCapacity: ConsumedCapacity[] } | undefined {
  if (mode !== 'TOTAL' && mode !== 'INDEXES') return undefined;
  const usages = new Map<string, Usage>();
  for (const { plan, outcome } of decisions) {
    const usage = usages.get(plan.table.name) ?? noUsage('write');
    usages.set(plan.table.name, addUsage(usage, writeUsage(plan.table, outcome.before, outcome.after)));
  }
  return capacityByTable(mode, usages);
}

const capacityByTable = (mode: CapacityMode, usages: Map<string, Usage>) => ({
  ConsumedCapacity: [...usages].map(([name, usage]) => consumedCapacity(mode, name, doubled(usage), true)!),
});

function collectionMetrics<T>(
  context: Context,
  input: TransactWriteItemsInput,
  writes: BoundWrite[],
  view: View<T>,
) {
  if (input.ReturnItemCollectionMetrics !== 'SIZE') return undefined;
  const byTable: Record<string, ItemCollectionMetrics<T>[]> = {};
  for (const { tableName, target } of writes) {
    const metrics = itemCollectionMetrics(input, context.catalog.get(tableName), target, view);
    if (!metrics) continue;
    byTable[tableName] ??= [];
    byTable[tableName].push(metrics.ItemCollectionMetrics);
  }
  return { ItemCollectionMetrics: byTable };
}
