import { checkConstraints } from './constraints.ts';
import { integer, required, type StructureShape, string, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

// Bulk operations and global tables: only what is needed to refuse them with the right error, and all that lists of
// them take.

export const globalTableShape = structure('GlobalTableInput', {
  GlobalTableName: required(string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ })),
});
export const replicaScalingShape = structure('TableReplicaAutoScalingInput', { TableName: tableName });
export const listGlobalTablesShape = structure('ListGlobalTablesInput', {
  ExclusiveStartGlobalTableName: string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ }),
  Limit: integer(1),
  RegionName: string(),
});
export const listBulkOperationsShape = structure('ListBulkOperationsInput', {
  MaxResults: integer(1, 100),
  NextToken: string(),
});
export const startBulkPutItemsShape = structure('StartBulkPutItemsInput', {
  TableName: tableName,
  InputS3Configuration: required(structure('InputS3Configuration', {})),
});
export const bulkOperationShape = structure('BulkOperationInput', {
  BulkOperationArn: required(string({ min: 1, max: 1024 })),
});

export type GlobalTableInput = TypeOf<typeof globalTableShape>;
export type ReplicaScalingInput = TypeOf<typeof replicaScalingShape>;
export type StartBulkPutItemsInput = TypeOf<typeof startBulkPutItemsShape>;
export type BulkOperationInput = TypeOf<typeof bulkOperationShape>;

const validatorOf =
  (shape: StructureShape) =>
  (input: unknown): void => {
    resolveTableArn(input);
    checkConstraints(shape, input as object);
  };

export const validateGlobalTable = validatorOf(globalTableShape);
export const validateReplicaScaling = validatorOf(replicaScalingShape);
export const validateListGlobalTables = validatorOf(listGlobalTablesShape);
export const validateListBulkOperations = validatorOf(listBulkOperationsShape);
export const validateStartBulkPutItems = validatorOf(startBulkPutItemsShape);
export const validateBulkOperation = validatorOf(bulkOperationShape);
