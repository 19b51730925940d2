import { validationError } from '../errors.ts';
import { required, string } from './shape.ts';

const pattern = /^[a-zA-Z0-9_.-]+$/;

// The data plane accepts any valid name and lets the lookup fail; CreateTable requires three characters.
export const tableName = required(string({ min: 1, max: 255, pattern }));
export const newTableName = required(string({ min: 3, max: 255, pattern }));
export const indexName = string({ min: 3, max: 255, pattern });
// The control plane checks the length with its own message, below.
export const knownTableName = required(string({ pattern }));

export function checkTableNamePresence(input: unknown): void {
  if ((input as { TableName?: unknown } | null)?.TableName == null) {
    throw validationError("The parameter 'TableName' is required but was not present in the request");
  }
}

export function checkTableNameLength(input: unknown): void {
  checkTableNamePresence(input);
  const name = (input as { TableName: unknown }).TableName;
  if (typeof name === 'string' && (name.length < 3 || name.length > 255)) {
    throw validationError('TableName must be at least 3 characters long and at most 255 characters long');
  }
}

// A table's ARN is accepted wherever its name is. Anything that is not a table's ARN is returned unchanged.
export function nameInArn(name: string): string {
  if (name.charCodeAt(3) !== 58) return name;
  return /^arn:[^:]+:dynamodb:[^:]*:\d*:table\/([a-zA-Z0-9_.-]+)$/.exec(name)?.[1] ?? name;
}

// Replaces an ARN by the name, so that code after the validators never sees an ARN.
export function resolveTableArn(input: unknown): void {
  const holder = input as { TableName?: unknown } | null | undefined;
  if (typeof holder?.TableName === 'string') holder.TableName = nameInArn(holder.TableName);
}
