import type { ConsumedCapacity } from '../capacity.ts';
import type { Prepared } from '../prepared/prepared.ts';
import type { batchGetItemShape } from '../validation/batch-get-item.ts';
import type { batchWriteItemShape } from '../validation/batch-write-item.ts';
import type { deleteItemShape } from '../validation/delete-item.ts';
import type { getItemShape } from '../validation/get-item.ts';
import type { Operation } from '../validation/operations.ts';
import type { putItemShape } from '../validation/put-item.ts';
import type { queryShape } from '../validation/query.ts';
import type { scanShape } from '../validation/scan.ts';
import type { TypeOf } from '../validation/shape.ts';
import type { transactGetItemsShape } from '../validation/transact-get-items.ts';
import type { transactWriteItemsShape } from '../validation/transact-write-items.ts';
import type { updateItemShape } from '../validation/update-item.ts';
import type { NativeItem } from '../values/marshal.ts';

// The operations of the AWS document client as plain functions: its inputs and outputs, no commands, no SDK.

// An operation's input with plain values where the wire has tagged ones.
type NativeOf<S> = TypeOf<S, unknown, NativeItem>;

type BilledOutput = { ConsumedCapacity?: ConsumedCapacity };
type BilledTables = { ConsumedCapacity?: ConsumedCapacity[] };
type Collection = { ItemCollectionKey: NativeItem; SizeEstimateRangeGB: [number, number] };
type WriteOutput = BilledOutput & { Attributes?: NativeItem; ItemCollectionMetrics?: Collection };
type Page = BilledOutput & {
  Items?: NativeItem[];
  Count: number;
  ScannedCount: number;
  LastEvaluatedKey?: NativeItem;
};

/** The operations of DynamoDB in process, with plain JavaScript values, as the AWS SDK's document client has them. */
export type Client = {
  get(input: NativeOf<typeof getItemShape>): Promise<BilledOutput & { Item?: NativeItem }>;
  put(input: NativeOf<typeof putItemShape>): Promise<WriteOutput>;
  update(input: NativeOf<typeof updateItemShape>): Promise<WriteOutput>;
  delete(input: NativeOf<typeof deleteItemShape>): Promise<WriteOutput>;
  query(input: NativeOf<typeof queryShape>): Promise<Page>;
  scan(input: NativeOf<typeof scanShape>): Promise<Page>;
  batchGet(input: NativeOf<typeof batchGetItemShape>): Promise<
    BilledTables & {
      Responses: Record<string, NativeItem[]>;
      UnprocessedKeys: NativeOf<typeof batchGetItemShape>['RequestItems'];
    }
  >;
  batchWrite(input: NativeOf<typeof batchWriteItemShape>): Promise<
    BilledTables & {
      UnprocessedItems: NativeOf<typeof batchWriteItemShape>['RequestItems'];
      ItemCollectionMetrics?: Record<string, Collection[]>;
    }
  >;
  transactGet(
    input: NativeOf<typeof transactGetItemsShape>,
  ): Promise<BilledTables & { Responses: { Item?: NativeItem }[] }>;
  transactWrite(
    input: NativeOf<typeof transactWriteItemsShape>,
  ): Promise<BilledTables & { ItemCollectionMetrics?: Record<string, Collection[]> }>;
};

/** The client, whose operations also have a prepared form as long as they are its own. */
export type PreparedClient = { [Name in keyof Client]: Client[Name] & { readonly prepared?: Prepared } };

// `execute` takes and gives plain values. The prepared form belongs to each function: if a caller replaces or wraps one,
// what it did not replace stays prepared, and nothing bypasses the replacement.
export function createClient(
  execute: (operation: Operation, input: unknown) => Promise<object>,
  prepared: Prepared,
): PreparedClient {
  const as = <Input, Output>(operation: Operation) =>
    Object.assign((input: Input) => execute(operation, input) as Promise<Output>, { prepared });
  return {
    get: as('GetItem'),
    put: as('PutItem'),
    update: as('UpdateItem'),
    delete: as('DeleteItem'),
    query: as('Query'),
    scan: as('Scan'),
    batchGet: as('BatchGetItem'),
    batchWrite: as('BatchWriteItem'),
    transactGet: as('TransactGetItems'),
    transactWrite: as('TransactWriteItems'),
  };
}
