import { validationError } from '../errors.ts';
import { vectorFilters } from '../limits.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import { bindCondition, type Operand, type Test } from './condition.ts';
import type { Scope } from './scope.ts';

// A search may only ask for equalities of the attributes in the search schema, joined by AND.

const kind = 'SearchConditionExpression';

export function bindSearchCondition(source: string, scope: Scope): Map<string, AttributeValue> {
  const equalities = new Map<string, AttributeValue>();
  collectEqualities(bindCondition(kind, source, scope).test, equalities);
  if (equalities.size > mostConditions) {
    throw validationError(
      `Invalid ${kind}: ${kind} cannot have more than 1 partition key and more than ${mostFilters} inline filter ` +
        'key attributes',
    );
  }
  return equalities;
}

// DynamoDB counts more filters here than an index can have.
const mostFilters = vectorFilters + 2;
const mostConditions = mostFilters + 1;

function collectEqualities(test: Test, equalities: Map<string, AttributeValue>): void {
  if (test.kind === 'and') {
    for (const part of test.tests) collectEqualities(part, equalities);
    return;
  }
  if (test.kind === 'or' || test.kind === 'not')
    throw validationError(`Invalid ${kind}: Invalid operator used in ${kind}`);
  if (test.kind !== 'compare' || test.operator !== '=')
    throw validationError(`Invalid ${kind}: Invalid comparator used in ${kind}`);
  const [name, value] = sidesOf(test.left, test.right);
  if (equalities.has(name)) throw validationError(`${kind} must only contain one condition per attribute`);
  equalities.set(name, value);
}

function sidesOf(left: Operand, right: Operand): [string, AttributeValue] {
  const [path, value] = left.kind === 'path' ? [left, right] : [right, left];
  if (path.kind !== 'path' || value.kind !== 'value')
    throw validationError(`Invalid ${kind}: a condition compares one attribute with one value`);
  if (path.path.length > 1) throw validationError(`${kind} cannot have conditions on nested attributes`);
  return [path.path[0] as string, value.value];
}
