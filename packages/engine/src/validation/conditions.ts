import { validationError } from '../errors.ts';
import { type AttributeType, type AttributeValue, typeOf } from '../values/attribute-value.ts';
import { compareScalars } from '../values/compare.ts';
import { checkAttributeName, invalid, validateValue } from './attribute-values.ts';
import type { condition, expected } from './members.ts';
import type { TypeOf } from './shape.ts';

type Condition = TypeOf<typeof condition>;
export type Conditions = { [name: string]: Condition };
export type Expected = TypeOf<typeof expected>;
type ComparisonOperator = Condition['ComparisonOperator'];

const scalars: AttributeType[] = ['S', 'N', 'B'];
const comparable: AttributeType[] = ['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M'];

// How many arguments an operator takes, and of which types.
const operators: { [O in ComparisonOperator]: { least: number; most: number; types: AttributeType[] } } = {
  NULL: { least: 0, most: 0, types: [] },
  NOT_NULL: { least: 0, most: 0, types: [] },
  EQ: { least: 1, most: 1, types: comparable },
  NE: { least: 1, most: 1, types: comparable },
  LE: { least: 1, most: 1, types: scalars },
  LT: { least: 1, most: 1, types: scalars },
  GE: { least: 1, most: 1, types: scalars },
  GT: { least: 1, most: 1, types: scalars },
  CONTAINS: { least: 1, most: 1, types: scalars },
  NOT_CONTAINS: { least: 1, most: 1, types: scalars },
  BEGINS_WITH: { least: 1, most: 1, types: ['S', 'B'] },
  IN: { least: 1, most: Number.POSITIVE_INFINITY, types: scalars },
  BETWEEN: { least: 2, most: 2, types: scalars },
};

// QueryFilter, ScanFilter and KeyConditions.
export function validateConditions(conditions: Conditions | undefined): void {
  for (const name in conditions) {
    checkAttributeName(name);
    const { ComparisonOperator: operator, AttributeValueList } = conditions[name] as Condition;
    const values = AttributeValueList ?? [];
    for (const value of values) validateValue(value);
    checkArguments(operator, values);
  }
}

export function validateExpected(conditions: Expected | undefined): void {
  for (const name in conditions) {
    checkAttributeName(name);
    const { ComparisonOperator, AttributeValueList, Exists, Value } = conditions[name] as Expected[string];
    if (AttributeValueList && Value) {
      throw invalid(`Value and AttributeValueList cannot be used together for Attribute: ${name}`);
    }
    if (Value) validateValue(Value);
    for (const value of AttributeValueList ?? []) validateValue(value);
    if (ComparisonOperator) {
      if (Exists != null) {
        throw invalid(`Exists and ComparisonOperator cannot be used together for Attribute: ${name}`);
      }
      if (operators[ComparisonOperator].least > 0 && !AttributeValueList && !Value) {
        throw invalid(
          `Value or AttributeValueList must be used with ComparisonOperator: ${ComparisonOperator} for Attribute: ${name}`,
        );
      }
      checkArguments(ComparisonOperator, AttributeValueList ?? (Value ? [Value] : []));
    } else if (AttributeValueList) {
      throw invalid(`AttributeValueList can only be used with a ComparisonOperator for Attribute: ${name}`);
    } else if (Exists !== false && !Value) {
      throw invalid(`Value must be provided when Exists is ${Exists ?? 'null'} for Attribute: ${name}`);
    } else if (Exists === false && Value) {
      throw invalid(`Value cannot be used when Exists is false for Attribute: ${name}`);
    }
  }
}

function checkArguments(operator: ComparisonOperator, values: AttributeValue[]): void {
  const { least, most, types } = operators[operator];
  if (values.length < least || values.length > most) {
    throw invalid(`Invalid number of argument(s) for the ${operator} ComparisonOperator`);
  }
  const [first, second] = values;
  if (first === undefined) return;
  const type = typeOf(first);
  if (values.some(value => typeOf(value) !== type)) {
    throw invalid('AttributeValues inside AttributeValueList must be of same type');
  }
  if (!types.includes(type)) {
    throw invalid(`ComparisonOperator ${operator} is not valid for ${type} AttributeValue type`);
  }
  if (operator === 'BETWEEN' && second && compareScalars(first, second) > 0) {
    throw validationError(
      'The BETWEEN condition was provided a range where the lower bound is greater than the upper bound',
    );
  }
}
