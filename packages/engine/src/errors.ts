import type { Item } from './values/attribute-value.ts';

/** Why a part of a transaction did not succeed; `None` if it was not the cause. */
export type CancellationReason = { Code: string; Message?: string; Item?: Item };

type Details = { Item?: Item; CancellationReasons?: CancellationReason[] };

/** An error as DynamoDB names it. AWS SDK users test for `name`; the HTTP server adds the namespace. */
export class DynamoError extends Error {
  override readonly name: string;
  readonly statusCode: number;
  readonly Item?: Item;
  readonly CancellationReasons?: CancellationReason[];

  constructor(name: string, message: string, details: Details = {}, statusCode = 400) {
    super(message);
    this.name = name;
    this.statusCode = statusCode;
    if (details.Item) this.Item = details.Item;
    if (details.CancellationReasons) this.CancellationReasons = details.CancellationReasons;
  }
}

export const validationError = (message: string): DynamoError =>
  new DynamoError('ValidationException', message);

export const serializationError = (message: string): DynamoError =>
  new DynamoError('SerializationException', message);

export const conditionFailed = (item?: Item): DynamoError =>
  new DynamoError(
    'ConditionalCheckFailedException',
    'The conditional request failed',
    item ? { Item: item } : {},
  );

// DynamoDB says which resource only for the control plane (Describe, Update, Delete).
export const resourceNotFound = (message = 'Requested resource not found'): DynamoError =>
  new DynamoError('ResourceNotFoundException', message);

export const resourceInUse = (message: string): DynamoError =>
  new DynamoError('ResourceInUseException', message);

export const internalError = (message: string): DynamoError =>
  new DynamoError('InternalServerError', message, {}, 500);

// Amazon has no such error. Nothing was written, which an internal error would leave open.
export const storeFull = (message: string): DynamoError =>
  new DynamoError('StoreFullException', message, {}, 507);
