import { DynamoError, internalError } from '../errors.ts';

export type ErrorLog = { error(details: object, message: string): void };
export type WireError = { status: number; body: Record<string, unknown> };

const service = 'com.amazon.coral.service#';
const dynamo = 'com.amazonaws.dynamodb.v20120810#';

// Errors that AWS's web framework raises before or beside DynamoDB keep the framework's namespace.
const namespaces = new Map([
  ['ValidationException', 'com.amazon.coral.validate#'],
  ['AccessDeniedException', service],
  ['InvalidSignatureException', service],
  ['MissingAuthenticationTokenException', service],
  ['RequestEntityTooLargeException', service],
  ['RequestTimeoutException', service],
  ['SerializationException', service],
  ['UnknownOperationException', service],
  ['UnsupportedMediaTypeException', service],
]);

// DynamoDB's own model spells the member `Message` for these, and `message` for all others.
const capitalised = new Set([
  'IdempotentParameterMismatchException',
  'SerializationException',
  'TransactionCanceledException',
  'TransactionInProgressException',
]);

export function toWireError(error: unknown, log?: ErrorLog): WireError {
  if (!(error instanceof DynamoError)) {
    log?.error({ err: error }, 'request failed');
    return toWireError(internalError('Internal server error'));
  }
  if (error.statusCode >= 500) log?.error({ err: error }, 'request failed');
  const body: Record<string, unknown> = { __type: (namespaces.get(error.name) ?? dynamo) + error.name };
  if (error.CancellationReasons) body.CancellationReasons = error.CancellationReasons;
  if (error.Item) body.Item = error.Item;
  if (error.message) body[capitalised.has(error.name) ? 'Message' : 'message'] = error.message;
  return { status: error.statusCode, body };
}
