import { expect, it } from 'vitest';
import { type Refusal, refusal } from './refusal.ts';

const TableName = 'things';

const others: Refusal[] = [
  [
    'an empty TTL attribute',
    'UpdateTimeToLive',
    { TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: '' } },
    "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1",
  ],
  ['tags for nothing', 'TagResource', {}, 'Invalid TableArn'],
  [
    'tags for no table',
    'TagResource',
    { ResourceArn: 'foo', Tags: [{ Key: 'a', Value: 'b' }] },
    'Invalid TableArn: Invalid ResourceArn provided as input foo',
  ],
  [
    'no tags',
    'TagResource',
    { ResourceArn: 'arn:aws:dynamodb:eu-west-1:123456789012:table/things', Tags: [] },
    'Atleast one Tag needs to be provided as Input.',
  ],
  [
    'no table to describe',
    'DescribeTable',
    {},
    "The parameter 'TableName' is required but was not present in the request",
  ],
  [
    'a short name to describe',
    'DescribeTable',
    { TableName: 'ab' },
    'TableName must be at least 3 characters long and at most 255 characters long',
  ],
  [
    'too long a list of tables',
    'ListTables',
    { Limit: 101 },
    "1 validation error detected: Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100",
  ],
];

it.each(others)('%s (%s)', (_title, operation, body, message) => {
  expect(refusal(operation, body)).toBe(message);
});
