import type { Context } from '../context.ts';
import { DynamoError, resourceNotFound, validationError } from '../errors.ts';
import * as unsupported from '../validation/unsupported.ts';

// The engine has one region. Requests for global tables get DynamoDB's error for a missing resource, which callers can
// handle; their list is empty.

export function listGlobalTables(_: Context, input: object) {
  unsupported.validateListGlobalTables(input);
  return { GlobalTables: [] };
}

// CreateGlobalTable and UpdateGlobalTable, of the version that AWS has deprecated.
export function changeGlobalTable(_: Context, input: unsupported.GlobalTableInput): never {
  unsupported.validateGlobalTable(input);
  throw validationError(
    'One or more parameter values were invalid: DynamoDB global tables version 2017.11.29 is not supported. We ' +
      'recommend using DynamoDB global tables version 2019.11.21, instead of version 2017.11.29 (Legacy).',
  );
}

const noGlobalTable = (name: string): string => `Global table with name: '${name}' does not exist.`;

// DescribeGlobalTable, DescribeGlobalTableSettings and UpdateGlobalTableSettings.
export function findGlobalTable(_: Context, input: unsupported.GlobalTableInput): never {
  unsupported.validateGlobalTable(input);
  throw new DynamoError('GlobalTableNotFoundException', noGlobalTable(input.GlobalTableName));
}

// DescribeTableReplicaAutoScaling and UpdateTableReplicaAutoScaling.
export function findReplicaScaling(_: Context, input: unsupported.ReplicaScalingInput): never {
  unsupported.validateReplicaScaling(input);
  throw resourceNotFound(noGlobalTable(input.TableName));
}
