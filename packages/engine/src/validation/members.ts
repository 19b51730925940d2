import { attributes, boolean, list, map, oneOf, string, structure, value } from './shape.ts';

// Members that several operations share.
export const returnConsumedCapacity = oneOf('INDEXES', 'TOTAL', 'NONE');
export const returnItemCollectionMetrics = oneOf('SIZE', 'NONE');
export const returnValues = oneOf('ALL_NEW', 'UPDATED_OLD', 'ALL_OLD', 'NONE', 'UPDATED_NEW');
export const returnValuesOnConditionCheckFailure = oneOf('ALL_OLD', 'NONE');
export const select = oneOf('SPECIFIC_ATTRIBUTES', 'COUNT', 'ALL_ATTRIBUTES', 'ALL_PROJECTED_ATTRIBUTES');
export const conditionalOperator = oneOf('OR', 'AND');
export const attributesToGet = list(string(), 1, 255);
export const expression = string();
export const attributeNames = map(string());
export const attributeValues = attributes;

const comparisonOperator = oneOf(
  'IN',
  'NULL',
  'BETWEEN',
  'LT',
  'NOT_CONTAINS',
  'EQ',
  'GT',
  'NOT_NULL',
  'NE',
  'LE',
  'BEGINS_WITH',
  'GE',
  'CONTAINS',
);

export const condition = structure('Condition', {
  AttributeValueList: list(value),
  ComparisonOperator: { ...comparisonOperator, required: true as const },
});

export const expected = map(
  structure('ExpectedAttributeValue', {
    AttributeValueList: list(value),
    ComparisonOperator: comparisonOperator,
    Exists: boolean,
    Value: value,
  }),
);
