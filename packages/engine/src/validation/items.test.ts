import { expect, it } from 'vitest';
import { type Refusal, refusal } from './refusal.ts';

const TableName = 'things';
const Key = { pk: { S: 'a' } };
const Item = { pk: { S: 'a' } };
const nullTableName =
  "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: Member must not be null";
const invalid = 'One or more parameter values were invalid: ';
const announced = '1 validation error detected: ';

const items: Refusal[] = [
  ['a good put', 'PutItem', { TableName, Item }, undefined],
  [
    'a table by its ARN',
    'PutItem',
    { TableName: 'arn:aws:dynamodb:eu-west-1:123456789012:table/things', Item },
    undefined,
  ],
  ['no table name', 'PutItem', { Item }, nullTableName],
  [
    'an empty table name, alone',
    'PutItem',
    { TableName: '', ReturnValues: 'X', Item: {} },
    "1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1",
  ],
  [
    'a table name that is too long',
    'PutItem',
    { TableName: 'a'.repeat(256), Item },
    `1 validation error detected: Value '${'a'.repeat(256)}' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255`,
  ],
  [
    'a table name with other characters',
    'PutItem',
    { TableName: 'bad table!@#', Item },
    "1 validation error detected: Value 'bad table!@#' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
  ],
  [
    'several bad enums at once',
    'PutItem',
    { TableName, Item, ReturnConsumedCapacity: 'X', ReturnItemCollectionMetrics: 'Y', ReturnValues: 'Z' },
    "3 validation errors detected: Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; " +
      "Value 'Z' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]; " +
      "Value 'Y' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy enum value set: [SIZE, NONE]",
  ],
  [
    'expressions mixed with older parameters',
    'PutItem',
    { TableName, Item, Expected: { pk: { Exists: false } }, ConditionExpression: 'a' },
    `${announced}Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}`,
  ],
  [
    'values without an expression',
    'PutItem',
    { TableName, Item, ExpressionAttributeValues: { ':v': { S: 'a' } } },
    `${announced}ExpressionAttributeValues can only be specified when using expressions`,
  ],
  [
    'names without an expression',
    'PutItem',
    { TableName, Item, ExpressionAttributeNames: { '#a': 'a' } },
    `${announced}ExpressionAttributeNames can only be specified when using expressions`,
  ],
  [
    'ALL_NEW of a put',
    'PutItem',
    { TableName, Item, ReturnValues: 'ALL_NEW' },
    `${announced}ReturnValues can only be ALL_OLD or NONE`,
  ],
  [
    'an item over 400 KB',
    'PutItem',
    { TableName, Item: { ...Item, big: { S: 'x'.repeat(409_600) } } },
    'Item size has exceeded the maximum allowed size',
  ],
  [
    'Expected without a value',
    'PutItem',
    { TableName, Item, Expected: { a: {} } },
    `${announced}${invalid}Value must be provided when Exists is null for Attribute: a`,
  ],
  [
    'Expected with too few arguments',
    'DeleteItem',
    { TableName, Key, Expected: { a: { ComparisonOperator: 'BETWEEN', AttributeValueList: [{ S: 'a' }] } } },
    `${announced}${invalid}Invalid number of argument(s) for the BETWEEN ComparisonOperator`,
  ],
  [
    'an empty update expression',
    'UpdateItem',
    { TableName, Key, UpdateExpression: '' },
    'Invalid UpdateExpression: The expression can not be empty;',
  ],
  [
    'AttributeUpdates without a value',
    'UpdateItem',
    { TableName, Key, AttributeUpdates: { a: { Action: 'PUT' } } },
    `${announced}${invalid}Only DELETE action is allowed when no attribute value is specified`,
  ],
  [
    'an unknown action',
    'UpdateItem',
    { TableName, Key, AttributeUpdates: { a: { Action: 'X', Value: { S: 'a' } } } },
    "1 validation error detected: Value 'X' at 'attributeUpdates.a.member.action' failed to satisfy constraint: Member must satisfy enum value set: [ADD, PUT, DELETE]",
  ],
  [
    'values without either expression',
    'UpdateItem',
    { TableName, Key, ExpressionAttributeValues: { ':v': { S: 'a' } } },
    `${announced}ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null`,
  ],
  [
    'a bad value in an expression',
    'UpdateItem',
    { TableName, Key, UpdateExpression: 'SET a = :v', ExpressionAttributeValues: { ':v': { SS: [] } } },
    `${announced}${invalid}An string set  may not be empty`,
  ],
  [
    'a number that is too large',
    'PutItem',
    { TableName, Item: { ...Item, n: { N: '1e126' } } },
    `${announced}Number overflow. Attempting to store a number with magnitude larger than supported range`,
  ],
  [
    'an exponent of many digits',
    'UpdateItem',
    {
      TableName,
      Key,
      UpdateExpression: 'SET a = :v',
      ExpressionAttributeValues: { ':v': { N: '1e99999999999' } },
    },
    `${announced}Number overflow. Attempting to store a number with magnitude larger than supported range`,
  ],
  [
    'a number that is none',
    'DeleteItem',
    { TableName, Key: { pk: { N: 'one' } } },
    `${announced}The parameter cannot be converted to a numeric value: one`,
  ],
  [
    'strings twice in a set',
    'PutItem',
    { TableName, Item: { ...Item, s: { SS: ['b', 'a', 'b', 'c'] } } },
    `${announced}${invalid}Input collection ["a", "b", "b", "c"] contains duplicates.`,
  ],
  [
    'bytes twice in a set',
    'DeleteItem',
    { TableName, Key: { pk: { BS: ['/w==', 'AA==', 'AA=='] } } },
    `${announced}${invalid}Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.`,
  ],
  [
    'numbers twice in a set',
    'UpdateItem',
    {
      TableName,
      Key,
      UpdateExpression: 'SET a = :v',
      ExpressionAttributeValues: { ':v': { NS: ['2', '1', '2.0'] } },
    },
    `${announced}${invalid}Input collection contains duplicates.`,
  ],
  [
    'strings twice in the set of a get',
    'GetItem',
    { TableName, Key: { pk: { SS: ['b', 'a', 'b'] } } },
    `${invalid}Input collection ["a", "b", "b"] contains duplicates.`,
  ],
  [
    'a number without digits, of a query',
    'Query',
    { TableName, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { N: '' } } },
    'The parameter cannot be converted to a numeric value: ',
  ],
  [
    'a number without digits, of a scan',
    'Scan',
    { TableName, FilterExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { N: '' } } },
    'ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value for key :p',
  ],
  [
    'an exponent of more than 64 bits',
    'PutItem',
    { TableName, Item: { ...Item, n: { N: '1e9223372036854775808' } } },
    `${announced}The parameter cannot be converted to a numeric value: 1e9223372036854775808`,
  ],
  [
    'ALL_NEW of a deletion',
    'DeleteItem',
    { TableName, Key, ReturnValues: 'ALL_NEW' },
    `${announced}ReturnValues can only be ALL_OLD or NONE`,
  ],
  [
    'no names',
    'DeleteItem',
    { TableName, Key, ConditionExpression: 'attribute_exists(pk)', ExpressionAttributeNames: {} },
    `${announced}ExpressionAttributeNames must not be empty`,
  ],
  [
    'a false NULL in an expression',
    'UpdateItem',
    { TableName, Key, UpdateExpression: 'SET a = :v', ExpressionAttributeValues: { ':v': { NULL: false } } },
    `${announced}${invalid}Null attribute value types must have the value of true`,
  ],
  [
    'a get without a key',
    'GetItem',
    { TableName },
    "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member must not be null",
  ],
  [
    'the same attribute twice',
    'GetItem',
    { TableName, Key, AttributesToGet: ['a', 'a'] },
    `${invalid}Duplicate value in attribute name: a`,
  ],
  [
    'no names',
    'GetItem',
    { TableName, Key, ProjectionExpression: 'a', ExpressionAttributeNames: {} },
    'ExpressionAttributeNames must not be empty',
  ],
  [
    'a bad name',
    'GetItem',
    { TableName, Key, ProjectionExpression: 'a', ExpressionAttributeNames: { '#a-b': 'a' } },
    'ExpressionAttributeNames contains invalid key: Syntax error; key: "#a-b"',
  ],
];

it.each(items)('%s (%s)', (_title, operation, body, message) => {
  expect(refusal(operation, body)).toBe(message);
});

const tooLong = 'n'.repeat(65_536);
const condition = { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'a' }] };

it.each([
  ['an item', 'PutItem', (name: string) => ({ TableName, Item: { ...Item, [name]: { S: 'a' } } })],
  [
    'a map in an item',
    'PutItem',
    name => ({ TableName, Item: { ...Item, m: { M: { [name]: { S: 'a' } } } } }),
  ],
  [
    'a name in an update',
    'UpdateItem',
    name => ({
      TableName,
      Key,
      UpdateExpression: 'REMOVE #n',
      ExpressionAttributeNames: { '#n': name },
    }),
  ],
  [
    'a name in a projection',
    'GetItem',
    name => ({
      TableName,
      Key,
      ProjectionExpression: '#n',
      ExpressionAttributeNames: { '#n': name },
    }),
  ],
  ['attributes to get', 'GetItem', name => ({ TableName, Key, AttributesToGet: [name] })],
  [
    'attribute updates',
    'UpdateItem',
    name => ({ TableName, Key, AttributeUpdates: { [name]: { Action: 'PUT', Value: { S: 'a' } } } }),
  ],
  ['an expectation', 'DeleteItem', name => ({ TableName, Key, Expected: { [name]: { Exists: false } } })],
  ['a filter', 'Scan', name => ({ TableName, ScanFilter: { [name]: condition } })],
] satisfies [string, Refusal[1], (name: string) => object][])(
  'a name in %s of %s is neither empty nor too long',
  (_title, operation, body) => {
    expect(refusal(operation, body(''))).toMatch(
      /Attribute name must not be empty|length greater than or equal to 1/,
    );
    expect(refusal(operation, body(tooLong))).toMatch(
      /Attribute name is too large|length less than or equal to 65535/,
    );
    expect(refusal(operation, body(tooLong.slice(1)))).toBeUndefined();
  },
);
