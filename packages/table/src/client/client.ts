// The port that services use: the inputs and outputs of the AWS document client, as plain objects. The embedded
// engine's client implements it directly; `awsClient` wraps the SDK.

/** An item, or a part of one, with plain JavaScript values. */
// biome-ignore lint/suspicious/noExplicitAny: an item on its way to or from the store has any attributes.
export type Attributes = Record<string, any>;

export type Capacity = {
  TableName?: string;
  CapacityUnits?: number;
  ReadCapacityUnits?: number;
  WriteCapacityUnits?: number;
};
type BilledOutput = { ConsumedCapacity?: Capacity };
type BilledTables = { ConsumedCapacity?: Capacity[] };
type Billing = { ReturnConsumedCapacity?: 'INDEXES' | 'TOTAL' | 'NONE' };

type Expressions = {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Attributes;
};
export type Conditional = Expressions & {
  ConditionExpression?: string;
  ReturnValuesOnConditionCheckFailure?: 'ALL_OLD' | 'NONE';
};
type WriteOutput = BilledOutput & { Attributes?: Attributes };

export type GetInput = Billing & { TableName: string; Key: Attributes; ConsistentRead?: boolean };
export type PutInput = Billing &
  Conditional & { TableName: string; Item: Attributes; ReturnValues?: 'ALL_OLD' | 'NONE' };
export type UpdateInput = Billing &
  Conditional & {
    TableName: string;
    Key: Attributes;
    UpdateExpression: string;
    ReturnValues?: 'ALL_OLD' | 'ALL_NEW' | 'UPDATED_OLD' | 'UPDATED_NEW' | 'NONE';
  };
export type DeleteInput = Billing &
  Conditional & { TableName: string; Key: Attributes; ReturnValues?: 'ALL_OLD' | 'NONE' };

type PageInput = Billing &
  Expressions & {
    TableName: string;
    IndexName?: string;
    FilterExpression?: string;
    ProjectionExpression?: string;
    ConsistentRead?: boolean;
    Limit?: number;
    ExclusiveStartKey?: Attributes;
  };
export type QueryInput = PageInput & { KeyConditionExpression: string; ScanIndexForward?: boolean };
export type ScanInput = PageInput & { Segment?: number; TotalSegments?: number };
type Page = BilledOutput & {
  Items?: Attributes[];
  Count?: number;
  ScannedCount?: number;
  LastEvaluatedKey?: Attributes;
};

export type KeysToGet = { Keys: Attributes[]; ConsistentRead?: boolean };
/** One write of a BatchWriteItem request. */
export type BatchWrite = { PutRequest?: { Item: Attributes }; DeleteRequest?: { Key: Attributes } };

type TransactPut = Conditional & { TableName: string; Item: Attributes };
type TransactUpdate = Conditional & { TableName: string; Key: Attributes; UpdateExpression: string };
type TransactDelete = Conditional & { TableName: string; Key: Attributes };
type TransactCheck = TransactDelete & { ConditionExpression: string };
export type TransactWrite =
  | { Put: TransactPut }
  | { Update: TransactUpdate }
  | { Delete: TransactDelete }
  | { ConditionCheck: TransactCheck };

/**
 * The operations of DynamoDB, with inputs and outputs as plain objects. The engine's client is one; `awsClient` creates
 * another.
 */
export type DynamoClient = {
  get(input: GetInput): Promise<BilledOutput & { Item?: Attributes }>;
  put(input: PutInput): Promise<WriteOutput>;
  update(input: UpdateInput): Promise<WriteOutput>;
  delete(input: DeleteInput): Promise<WriteOutput>;
  query(input: QueryInput): Promise<Page>;
  scan(input: ScanInput): Promise<Page>;
  batchGet(input: Billing & { RequestItems: Record<string, KeysToGet> }): Promise<
    BilledTables & {
      Responses?: Record<string, Attributes[]>;
      UnprocessedKeys?: Record<string, KeysToGet>;
    }
  >;
  batchWrite(
    input: Billing & { RequestItems: Record<string, BatchWrite[]> },
  ): Promise<BilledTables & { UnprocessedItems?: Record<string, BatchWrite[]> }>;
  transactGet(
    input: Billing & { TransactItems: { Get: { TableName: string; Key: Attributes } }[] },
  ): Promise<BilledTables & { Responses?: { Item?: Attributes }[] }>;
  transactWrite(
    input: Billing & { TransactItems: TransactWrite[]; ClientRequestToken?: string },
  ): Promise<BilledTables>;
};

/** Over a network, a write may have been made although its response was lost. */
export type RemoteClient = DynamoClient & { readonly mayLoseAnswers: true };

export const mayLoseAnswers = (client: DynamoClient): boolean =>
  (client as Partial<RemoteClient>).mayLoseAnswers === true;

/** The operations on tables: CreateTable, DescribeTable and so on by name, in the form of the HTTP API. */
export type ControlPlane = { execute(operation: ControlOperation, input: object): Promise<object> };
/** The operations that create and describe tables. */
export type ControlOperation =
  | 'CreateTable'
  | 'DescribeTable'
  | 'UpdateTable'
  | 'DeleteTable'
  | 'ListTables'
  | 'DescribeTimeToLive'
  | 'DescribeContinuousBackups'
  | 'UpdateContinuousBackups'
  | 'UpdateTimeToLive';
