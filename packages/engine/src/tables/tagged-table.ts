import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import type { Table } from '../storage/table.ts';
import { parseArn } from './arns.ts';

// Tags are addressed by ARN. DynamoDB does not reveal whether another account has the table.
export function taggedTable(context: Context, operation: string, arn: string): Table {
  const { accountId, tableName } = parseArn(arn)!;
  if (accountId !== context.accountId) {
    throw new DynamoError(
      'AccessDeniedException',
      `User: arn:aws:iam::${context.accountId}:root is not authorized to perform: dynamodb:${operation} on resource: ${arn}`,
    );
  }
  return context.catalog.get(tableName, `Requested resource not found: ResourceArn: ${arn} not found`);
}
