const key = { pk: { S: 'a' }, sk: { S: 'b' } };
const schema = {
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'n', AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'by-n',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'n', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
  ],
  BillingMode: 'PAY_PER_REQUEST',
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
};
const table = { TableName: 'hostile' };

// One good request of each kind, in an order in which all of them succeed on an empty store.
export const validRequests: [operation: string, input: Record<string, unknown>][] = [
  ['CreateTable', { ...schema, TableName: 'witness' }],
  ['CreateTable', { ...schema, ...table }],
  ['DescribeTable', table],
  ['ListTables', { Limit: 10 }],
  [
    'PutItem',
    {
      ...table,
      Item: {
        ...key,
        n: { N: '12.5' },
        m: { M: { l: { L: [{ BOOL: true }, { NULL: true }] } } },
        bs: { BS: ['AQID', 'BA=='] },
        ss: { SS: ['x', 'y'] },
      },
      ConditionExpression: 'attribute_not_exists(#p) OR size(#p) > :n',
      ExpressionAttributeNames: { '#p': 'pk' },
      ExpressionAttributeValues: { ':n': { N: '0' } },
      ReturnValues: 'ALL_OLD',
      ReturnConsumedCapacity: 'INDEXES',
    },
  ],
  ['GetItem', { ...table, Key: key, ConsistentRead: true, ProjectionExpression: 'm.l[0], ss' }],
  [
    'UpdateItem',
    {
      ...table,
      Key: key,
      UpdateExpression: 'SET m.x = if_not_exists(m.x, :one) + :one REMOVE q ADD n :one DELETE ss :ss',
      ExpressionAttributeValues: { ':one': { N: '1' }, ':ss': { SS: ['x'] } },
      ReturnValues: 'UPDATED_NEW',
    },
  ],
  ['UpdateItem', { ...table, Key: key, AttributeUpdates: { n: { Action: 'ADD', Value: { N: '1' } } } }],
  [
    'Query',
    {
      ...table,
      IndexName: 'by-n',
      KeyConditionExpression: 'pk = :p AND n BETWEEN :a AND :b',
      FilterExpression: 'contains(ss, :y) AND NOT q IN (:a, :b)',
      ExpressionAttributeValues: { ':p': { S: 'a' }, ':a': { N: '0' }, ':b': { N: '99' }, ':y': { S: 'y' } },
      ScanIndexForward: false,
      Limit: 5,
      Select: 'ALL_ATTRIBUTES',
    },
  ],
  [
    'Query',
    { ...table, KeyConditions: { pk: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'a' }] } } },
  ],
  ['Scan', { ...table, Segment: 0, TotalSegments: 2, FilterExpression: 'attribute_exists(pk)' }],
  ['BatchGetItem', { RequestItems: { hostile: { Keys: [key], ProjectionExpression: 'pk' } } }],
  ['BatchWriteItem', { RequestItems: { hostile: [{ PutRequest: { Item: { ...key, sk: { S: 'c' } } } }] } }],
  [
    'TransactWriteItems',
    {
      TransactItems: [
        { Put: { ...table, Item: { ...key, sk: { S: 'd' } } } },
        { ConditionCheck: { ...table, Key: key, ConditionExpression: 'attribute_exists(pk)' } },
        { Delete: { ...table, Key: { ...key, sk: { S: 'c' } } } },
      ],
    },
  ],
  ['TransactGetItems', { TransactItems: [{ Get: { ...table, Key: key } }] }],
  [
    'ExecuteStatement',
    { Statement: 'SELECT * FROM "hostile" WHERE pk = ?', Parameters: [{ S: 'a' }], Limit: 3 },
  ],
  ['BatchExecuteStatement', { Statements: [{ Statement: `SELECT * FROM hostile WHERE pk='a' AND sk='b'` }] }],
  ['UpdateTimeToLive', { ...table, TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } }],
  ['DescribeTimeToLive', table],
  ['ListStreams', { ...table, Limit: 1 }],
  ['DeleteItem', { ...table, Key: { ...key, sk: { S: 'd' } }, ReturnValues: 'ALL_OLD' }],
];
