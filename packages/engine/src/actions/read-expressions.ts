import { bindCondition, type Condition } from '../expressions/condition.ts';
import { conditionFromFilter } from '../expressions/legacy.ts';
import { bindProjection, type Projection, projectionOf } from '../expressions/projection.ts';
import { createScope, type Scope } from '../expressions/scope.ts';
import type { QueryInput } from '../validation/query.ts';
import type { ScanInput } from '../validation/scan.ts';

export type ReadExpressions = { scope: Scope; filter?: Condition; projection?: Projection };

// The expressions that Query and Scan have in common, or the legacy parameters in their place. The caller binds its own
// expressions before it checks that every placeholder was used.
export function bindReadExpressions(
  input: QueryInput | ScanInput,
  legacyFilter: QueryInput['QueryFilter'],
): ReadExpressions {
  const scope = createScope(input.ExpressionAttributeNames, input.ExpressionAttributeValues);
  const filter =
    input.FilterExpression === undefined
      ? conditionFromFilter(legacyFilter, input.ConditionalOperator)
      : bindCondition('FilterExpression', input.FilterExpression, scope);
  const projection =
    input.ProjectionExpression === undefined
      ? input.AttributesToGet && projectionOf(input.AttributesToGet)
      : bindProjection(input.ProjectionExpression, scope);
  return { scope, filter, projection };
}
