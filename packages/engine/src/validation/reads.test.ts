import { expect, it } from 'vitest';
import { type Refusal, refusal } from './refusal.ts';

const TableName = 'things';
const invalid = 'One or more parameter values were invalid: ';
const announced = '1 validation error detected: ';

const reads: Refusal[] = [
  ['a good query', 'Query', { TableName, KeyConditionExpression: 'pk = :v', Limit: 1 }, undefined],
  [
    'the older key condition beside a filter expression',
    'Query',
    {
      TableName,
      KeyConditions: { pk: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'a' }] } },
      FilterExpression: 'a = b',
    },
    undefined,
  ],
  [
    'no key condition',
    'Query',
    { TableName },
    'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
  ],
  [
    'a limit of 0',
    'Query',
    { TableName, KeyConditionExpression: 'pk = :v', Limit: 0 },
    "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
  ],
  [
    'an empty key condition',
    'Query',
    { TableName, KeyConditionExpression: '', ExpressionAttributeValues: { ':v': { S: 'a' } } },
    'Invalid KeyConditionExpression: The expression can not be empty;',
  ],
  [
    'nothing to select',
    'Query',
    { TableName, KeyConditionExpression: 'a', Select: 'SPECIFIC_ATTRIBUTES' },
    `${announced}Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES`,
  ],
  [
    'a projection beside a count',
    'Query',
    { TableName, KeyConditionExpression: 'a', ProjectionExpression: 'b', Select: 'COUNT' },
    'Cannot specify the ProjectionExpression when choosing to get only the Count',
  ],
  [
    'an empty value in the starting key',
    'Query',
    { TableName, KeyConditionExpression: 'a', ExclusiveStartKey: { pk: {} } },
    'The provided starting key is invalid: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
  ],
  [
    'BETWEEN the wrong way round',
    'Query',
    {
      TableName,
      KeyConditions: { pk: { ComparisonOperator: 'BETWEEN', AttributeValueList: [{ N: '10' }, { N: '9' }] } },
    },
    'The BETWEEN condition was provided a range where the lower bound is greater than the upper bound',
  ],
  ['no key conditions', 'Query', { TableName, KeyConditions: {} }, 'Conditions can be of length 1 or 2 only'],
  [
    'arguments of two types',
    'Scan',
    {
      TableName,
      ScanFilter: { a: { ComparisonOperator: 'IN', AttributeValueList: [{ S: 'a' }, { N: '1' }] } },
    },
    `${invalid}AttributeValues inside AttributeValueList must be of same type`,
  ],
  [
    'a limit of 0',
    'Scan',
    { TableName, Limit: 0 },
    "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
  ],
  [
    'a segment of nothing',
    'Scan',
    { TableName, Segment: 0 },
    'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
  ],
  [
    'segments without one',
    'Scan',
    { TableName, TotalSegments: 4 },
    'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
  ],
  [
    'a segment past the last',
    'Scan',
    { TableName, Segment: 5, TotalSegments: 5 },
    'The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less than TotalSegments: 5',
  ],
];

it.each(reads)('%s (%s)', (_title, operation, body, message) => {
  expect(refusal(operation, body)).toBe(message);
});
