import { beginRead, type Context, type View } from '../context.ts';
import { validationError } from '../errors.ts';
import type { Condition } from '../expressions/condition.ts';
import { bindKeyCondition, checkKeyCondition, resolveKeyCondition } from '../expressions/key-condition.ts';
import { keyConditionFromConditions } from '../expressions/legacy.ts';
import { assertAllUsed } from '../expressions/scope.ts';
import { readPage } from '../items/page.ts';
import { findIndex, pageUsage, resumeAfter, visibleThrough } from '../items/read-request.ts';
import { reportPage } from '../partition-usage.ts';
import { indexRange, itemRange } from '../storage/keys.ts';
import type { KeySchema } from '../storage/table.ts';
import { checkKeyBounds, checkQueriedKeys, isKeyOf } from '../validation/keys.ts';
import { type QueryInput, validateQuery } from '../validation/query.ts';
import { checkStartKey } from '../validation/start-key.ts';
import { bindReadExpressions } from './read-expressions.ts';
import { pageResponse } from './response.ts';

export function query<T>(context: Context, input: QueryInput, view: View<T>) {
  validateQuery(input);
  const { keyCondition, filter, projection } = bindQuery(input);
  beginRead(context, input.ConsistentRead);
  const table = context.catalog.get(input.TableName);
  const index = findIndex(table, input, 'Query');
  if (input.ExclusiveStartKey) checkStartKey(table, index, input.ExclusiveStartKey);
  const keys = (index ?? table).keys;
  const key = resolveKeyCondition(keyCondition, keys);
  checkKeyBounds(key);
  checkQueriedKeys(keys, key);
  if (filter) checkFilter(filter, keys, input);
  const visibility = visibleThrough(table, index, input, projection);
  const bounds = index ? indexRange(index, key) : itemRange(table, key);
  const reverse = input.ScanIndexForward === false;
  const page = readPage(
    context,
    {
      table,
      index,
      range: resumeAfter(bounds, table, index, input.ExclusiveStartKey, reverse),
      limit: input.Limit,
      visible: visibility.visible,
      filter,
      projection,
      countOnly: input.Select === 'COUNT',
    },
    view,
  );
  const usage = () => pageUsage(index, input, visibility, page);
  if (context.onUsage) reportPage(context, table, key.hash, usage());
  return pageResponse(input, page, view, usage);
}

function bindQuery(input: QueryInput) {
  const { scope, filter, projection } = bindReadExpressions(input, input.QueryFilter);
  const keyCondition =
    input.KeyConditionExpression === undefined
      ? keyConditionFromConditions(input.KeyConditions!)
      : bindKeyCondition(input.KeyConditionExpression, scope);
  assertAllUsed(scope);
  checkKeyCondition(keyCondition);
  return { keyCondition, filter, projection };
}

function checkFilter(filter: Condition, keys: KeySchema, input: QueryInput): void {
  const kind = input.FilterExpression === undefined ? 'QueryFilter' : 'Filter Expression';
  for (const [name] of filter.paths) {
    if (isKeyOf(keys, name as string)) {
      throw validationError(
        `${kind} can only contain non-primary key attributes: Primary key attribute: ${name}`,
      );
    }
  }
}
