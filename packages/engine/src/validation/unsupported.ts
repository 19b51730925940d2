import { checkConstraints } from './constraints.ts';
import { integer, required, type StructureShape, string, structure, type TypeOf } from './shape.ts';
import { resolveTableArn, tableName } from './table-name.ts';

// Global tables: only what is needed to refuse them with the right error, and all that lists of them take.

export const globalTableShape = structure('GlobalTableInput', {
  GlobalTableName: required(string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ })),
});
export const replicaScalingShape = structure('TableReplicaAutoScalingInput', { TableName: tableName });
export const listGlobalTablesShape = structure('ListGlobalTablesInput', {
  ExclusiveStartGlobalTableName: string({ min: 3, max: 255, pattern: /^[a-zA-Z0-9_.-]+$/ }),
  Limit: integer(1),
  RegionName: string(),
});

export type GlobalTableInput = TypeOf<typeof globalTableShape>;
export type ReplicaScalingInput = TypeOf<typeof replicaScalingShape>;

const validatorOf =
  (shape: StructureShape) =>
  (input: unknown): void => {
    resolveTableArn(input);
    checkConstraints(shape, input as object);
  };

export const validateGlobalTable = validatorOf(globalTableShape);
export const validateReplicaScaling = validatorOf(replicaScalingShape);
export const validateListGlobalTables = validatorOf(listGlobalTablesShape);
