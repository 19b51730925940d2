import { writeUsage } from '../capacity.ts';
import { type Context, submitOnTable, type View } from '../context.ts';
import { bindGuard } from '../items/guard.ts';
import { applyDecision, decide, planDelete } from '../items/write-plan.ts';
import { type DeleteItemInput, validateDeleteItem } from '../validation/delete-item.ts';
import { inEnvelope } from '../validation/envelope.ts';
import { itemCollectionMetrics } from './item-collection.ts';
import { capacityOf } from './response.ts';

export async function deleteItem<T>(context: Context, input: DeleteItemInput, view: View<T>) {
  validateDeleteItem(input);
  const guard = inEnvelope(() => bindGuard(input), { announcesUnused: true });
  return submitOnTable(context, input.TableName, table => {
    const plan = planDelete(table, input.Key, guard);
    return tx => {
      const outcome = decide(context, plan);
      applyDecision(context, tx, plan, outcome);
      const { before } = outcome;
      return {
        ...(input.ReturnValues === 'ALL_OLD' && before && { Attributes: view.present(before.item) }),
        ...capacityOf(input, () => writeUsage(table, before, undefined)),
        ...itemCollectionMetrics(input, table, input.Key, view),
      };
    };
  });
}
