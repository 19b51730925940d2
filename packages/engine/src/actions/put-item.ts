import { writeUsage } from '../capacity.ts';
import { type Context, submitOnTable, type View } from '../context.ts';
import { bindGuard } from '../items/guard.ts';
import { applyDecision, decide, planPut } from '../items/write-plan.ts';
import { inEnvelope } from '../validation/envelope.ts';
import { type PutItemInput, validatePutItem } from '../validation/put-item.ts';
import { itemCollectionMetrics } from './item-collection.ts';
import { capacityOf } from './response.ts';

export async function putItem<T>(context: Context, input: PutItemInput, view: View<T>) {
  validatePutItem(input);
  const guard = inEnvelope(() => bindGuard(input), { announcesUnused: true });
  return submitOnTable(context, input.TableName, table => {
    const plan = planPut(table, input.Item, guard);
    return tx => {
      const outcome = decide(context, plan);
      applyDecision(context, tx, plan, outcome);
      const { before, after } = outcome;
      return Object.assign(
        input.ReturnValues === 'ALL_OLD' && before ? { Attributes: view.present(before.item) } : {},
        capacityOf(input, () => writeUsage(table, before, after)),
        itemCollectionMetrics(input, table, input.Item, view),
      );
    };
  });
}
