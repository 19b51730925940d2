import { expect, it } from 'vitest';
import { type Refusal, refusal } from './refusal.ts';

const invalid = 'One or more parameter values were invalid: ';
const TableName = 'things';
const ProvisionedThroughput = { ReadCapacityUnits: 1, WriteCapacityUnits: 1 };
const define = (...names: string[]) => names.map(name => ({ AttributeName: name, AttributeType: 'S' }));
const keys = (hash: string, range?: string) => [
  { AttributeName: hash, KeyType: 'HASH' },
  ...(range ? [{ AttributeName: range, KeyType: 'RANGE' }] : []),
];
const table = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: define('a', 'b', 'c'),
  KeySchema: keys('a', 'b'),
};
const all = { ProjectionType: 'ALL' };
const local = (index: object) => ({
  ...table,
  LocalSecondaryIndexes: [{ IndexName: 'one', KeySchema: keys('a', 'c'), Projection: all, ...index }],
});
const global = (index: object) => ({
  ...table,
  GlobalSecondaryIndexes: [{ IndexName: 'one', KeySchema: keys('c'), Projection: all, ...index }],
});

const cases: Refusal[] = [
  ['a table with a local index', 'CreateTable', local({}), undefined],
  ['a table with a global index', 'CreateTable', global({}), undefined],
  ['no name', 'CreateTable', {}, "The parameter 'TableName' is required but was not present in the request"],
  [
    'a short name, alone',
    'CreateTable',
    { TableName: 'ab' },
    "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3",
  ],
  [
    'nothing but a name',
    'CreateTable',
    { TableName },
    "2 validation errors detected: Value null at 'attributeDefinitions' failed to satisfy constraint: Member must not be null; " +
      "Value null at 'keySchema' failed to satisfy constraint: Member must not be null",
  ],
  [
    'a key of another kind',
    'CreateTable',
    { ...table, KeySchema: [{ AttributeName: 'a', KeyType: 'INVALID' }] },
    "1 validation error detected: Value 'INVALID' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]",
  ],
  [
    'three keys',
    'CreateTable',
    { ...table, KeySchema: [...keys('a', 'b'), { AttributeName: 'c', KeyType: 'RANGE' }] },
    "1 validation error detected: Value '[KeySchemaElement(attributeName=a, keyType=HASH), KeySchemaElement(attributeName=b, keyType=RANGE), KeySchemaElement(attributeName=c, keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2",
  ],
  [
    'no throughput',
    'CreateTable',
    { ...table, BillingMode: undefined },
    `${invalid}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED`,
  ],
  [
    'throughput on demand',
    'CreateTable',
    { ...table, ProvisionedThroughput },
    `${invalid}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST`,
  ],
  [
    'too much throughput',
    'CreateTable',
    {
      ...table,
      BillingMode: undefined,
      ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1_000_000_000_001 },
    },
    'Given value 1000000000001 for WriteCapacityUnits is out of bounds',
  ],
  [
    'fewer definitions than keys',
    'CreateTable',
    { ...table, AttributeDefinitions: define('a') },
    'Invalid KeySchema: Some index key attribute have no definition',
  ],
  [
    'a key that is not defined',
    'CreateTable',
    { ...table, AttributeDefinitions: define('a', 'c') },
    `${invalid}Some index key attributes are not defined in AttributeDefinitions. Keys: [a, b], AttributeDefinitions: [a, c]`,
  ],
  [
    'the same key twice',
    'CreateTable',
    { ...table, KeySchema: keys('a', 'a') },
    'Both the Hash Key and the Range Key element in the KeySchema have the same name',
  ],
  [
    'the range key first',
    'CreateTable',
    { ...table, KeySchema: keys('a', 'b').reverse() },
    'Invalid KeySchema: The first KeySchemaElement is not a HASH key type',
  ],
  [
    'a definition without use',
    'CreateTable',
    table,
    `${invalid}Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions`,
  ],
  [
    'a definition without use beside an index',
    'CreateTable',
    { ...global({}), AttributeDefinitions: define('a', 'b', 'c', 'd') },
    `${invalid}Some AttributeDefinitions are not used. AttributeDefinitions: [a, b, c, d], keys used: [a, b, c]`,
  ],
  [
    'no local indexes',
    'CreateTable',
    { ...table, LocalSecondaryIndexes: [] },
    `${invalid}List of LocalSecondaryIndexes is empty`,
  ],
  [
    'a local index of a table without a range key',
    'CreateTable',
    { ...local({}), KeySchema: keys('a') },
    `${invalid}Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex`,
  ],
  [
    'a local index with another hash key',
    'CreateTable',
    local({ KeySchema: keys('b', 'c') }),
    `${invalid}Index KeySchema does not have the same leading hash key as table KeySchema for index: one. index hash key: b, table hash key: a`,
  ],
  [
    'a local index without a range key',
    'CreateTable',
    local({ KeySchema: keys('a') }),
    `${invalid}Index KeySchema does not have a range key for index: one`,
  ],
  ['no projection type', 'CreateTable', global({ Projection: {} }), `${invalid}Unknown ProjectionType: null`],
  [
    'attributes of a full projection',
    'CreateTable',
    global({ Projection: { ProjectionType: 'ALL', NonKeyAttributes: ['x'] } }),
    `${invalid}ProjectionType is ALL, but NonKeyAttributes is specified`,
  ],
  [
    'the same index twice',
    'CreateTable',
    { ...local({}), ...global({}), LocalSecondaryIndexes: local({}).LocalSecondaryIndexes },
    `${invalid}Duplicate index name: one`,
  ],
  [
    'too many global indexes',
    'CreateTable',
    {
      ...table,
      GlobalSecondaryIndexes: Array.from({ length: 21 }, (_, i) => ({
        IndexName: `index${i}`,
        KeySchema: keys('c'),
        Projection: all,
      })),
    },
    `${invalid}GlobalSecondaryIndex count exceeds the per-table limit of 20`,
  ],
  [
    'throughput of an index on demand',
    'CreateTable',
    global({ ProvisionedThroughput }),
    `${invalid}ProvisionedThroughput should not be specified for index: one when BillingMode is PAY_PER_REQUEST`,
  ],
  [
    'a view of a disabled stream',
    'CreateTable',
    { ...global({}), StreamSpecification: { StreamEnabled: false, StreamViewType: 'NEW_IMAGE' } },
    `${invalid}Table is being created with a stream disabled, UpdateViewType should not be specified`,
  ],
  [
    'an update of nothing',
    'UpdateTable',
    { TableName, GlobalSecondaryIndexUpdates: [] },
    'At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required',
  ],
  ['a change of protection', 'UpdateTable', { TableName, DeletionProtectionEnabled: false }, undefined],
  [
    'an empty index update',
    'UpdateTable',
    { TableName, GlobalSecondaryIndexUpdates: [{}] },
    `${invalid}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null`,
  ],
  [
    'two things in one index update',
    'UpdateTable',
    {
      TableName,
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'one',
            KeySchema: [{ AttributeName: 'a', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
          Delete: { IndexName: 'two' },
        },
      ],
    },
    `${invalid}Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object`,
  ],
  [
    'a projection that names an attribute twice',
    'UpdateTable',
    {
      TableName,
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'one',
            KeySchema: [{ AttributeName: 'a', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['b', 'b'] },
          },
        },
      ],
    },
    `${invalid}Duplicate element in NonKeyAttributes: b`,
  ],
  [
    'two updates of one index',
    'UpdateTable',
    {
      TableName,
      GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'one' } }, { Delete: { IndexName: 'one' } }],
    },
    `${invalid}Only one global secondary index update per index is allowed simultaneously. Index: one`,
  ],
  [
    'an index update without anything',
    'UpdateTable',
    { TableName, GlobalSecondaryIndexUpdates: [{ Update: {} }] },
    "1 validation error detected: Value null at 'globalSecondaryIndexUpdates.1.member.update.indexName' failed to satisfy constraint: Member must not be null",
  ],
  [
    'an index update that changes nothing',
    'UpdateTable',
    { TableName, GlobalSecondaryIndexUpdates: [{ Update: { IndexName: 'one' } }] },
    "1 validation error detected: Value null at 'globalSecondaryIndexUpdates.1.member.update.provisionedThroughput' failed to satisfy constraint: Member must not be null",
  ],
  [
    'provisioned without throughput',
    'UpdateTable',
    { TableName, BillingMode: 'PROVISIONED' },
    `${invalid}ProvisionedThroughput must be specified when BillingMode is PROVISIONED`,
  ],
];

it.each(cases)('%s (%s)', (_title, operation, body, message) => {
  expect(refusal(operation, body)).toBe(message);
});
