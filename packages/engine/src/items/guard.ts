import { bindCondition } from '../expressions/condition.ts';
import { conditionFromExpected } from '../expressions/legacy.ts';
import { assertAllUsed, createScope, type Scope } from '../expressions/scope.ts';
import type { Expected } from '../validation/conditions.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import type { Guard } from './write-plan.ts';

type GuardInput = {
  ConditionExpression?: string;
  Expected?: Expected;
  ConditionalOperator?: 'AND' | 'OR';
  ReturnValuesOnConditionCheckFailure?: 'ALL_OLD' | 'NONE';
};

type ScopedInput = GuardInput & {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, AttributeValue>;
};

export function guardIn(input: GuardInput, scope: Scope): Guard {
  const condition =
    input.ConditionExpression === undefined
      ? conditionFromExpected(input.Expected, input.ConditionalOperator)
      : bindCondition('ConditionExpression', input.ConditionExpression, scope);
  return { condition, returnOnFailure: input.ReturnValuesOnConditionCheckFailure };
}

// For requests whose condition is their only expression.
export function bindGuard(input: ScopedInput): Guard {
  const scope = createScope(input.ExpressionAttributeNames, input.ExpressionAttributeValues);
  const guard = guardIn(input, scope);
  assertAllUsed(scope);
  return guard;
}
