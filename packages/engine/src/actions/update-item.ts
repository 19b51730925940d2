import { writeUsage } from '../capacity.ts';
import { type Context, submitOnTable, type View } from '../context.ts';
import { updateFromAttributeUpdates } from '../expressions/legacy.ts';
import { assertAllUsed, createScope } from '../expressions/scope.ts';
import { bindUpdate, emptyUpdate, type Update } from '../expressions/update.ts';
import { projectTouched } from '../expressions/update-application.ts';
import { guardIn } from '../items/guard.ts';
import { applyDecision, decide, type Outcome, planUpdate } from '../items/write-plan.ts';
import { inEnvelope } from '../validation/envelope.ts';
import { type UpdateItemInput, validateUpdateItem } from '../validation/update-item.ts';
import type { Item } from '../values/attribute-value.ts';
import { itemCollectionMetrics } from './item-collection.ts';
import { capacityOf } from './response.ts';

export async function updateItem<T>(context: Context, input: UpdateItemInput, view: View<T>) {
  validateUpdateItem(input);
  const { update, guard } = inEnvelope(() => bindUpdateItem(input));
  return submitOnTable(context, input.TableName, table => {
    const plan = planUpdate(table, input.Key, update, guard);
    return tx => {
      const outcome = decide(context, plan);
      applyDecision(context, tx, plan, outcome);
      const attributes = returnedAttributes(input.ReturnValues, outcome);
      return Object.assign(
        attributes ? { Attributes: view.present(attributes) } : {},
        capacityOf(input, () => writeUsage(table, outcome.before, outcome.after)),
        itemCollectionMetrics(input, table, input.Key, view),
      );
    };
  });
}

function bindUpdateItem(input: UpdateItemInput) {
  const scope = createScope(input.ExpressionAttributeNames, input.ExpressionAttributeValues);
  const update = updateIn(input, scope);
  const guard = guardIn(input, scope);
  assertAllUsed(scope);
  return { update, guard };
}

function updateIn(input: UpdateItemInput, scope: ReturnType<typeof createScope>): Update {
  if (input.UpdateExpression !== undefined) return bindUpdate(input.UpdateExpression, scope);
  if (input.AttributeUpdates) return updateFromAttributeUpdates(input.AttributeUpdates);
  return emptyUpdate;
}

function returnedAttributes(kind: UpdateItemInput['ReturnValues'], outcome: Outcome): Item | undefined {
  const { before, after, touched = [] } = outcome;
  switch (kind) {
    case 'ALL_OLD':
      return before?.item;
    case 'ALL_NEW':
      return after?.item;
    case 'UPDATED_OLD':
      return before && projectTouched(touched, before.item);
    case 'UPDATED_NEW':
      return after && projectTouched(touched, after.item);
    default:
      return undefined;
  }
}
