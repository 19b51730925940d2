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

// DynamoDB checks values in one of two places, with different words: `current` for operations that were moved in 2026.
// https://github.com/paritysuite/dynamodb-conformance has what it answered, region by region.
export class ValueError extends DynamoError {
  readonly current: string;

  constructor(message: string, current = message) {
    super('ValidationException', message);
    this.current = current;
  }
}

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

// Neither has Amazon an error for what a disk has changed. The key is added where it is known.
export class ItemDamage extends DynamoError {
  readonly key: Uint8Array | undefined;

  constructor(key?: Uint8Array) {
    const at = key ? ` (key ${Buffer.from(key).toString('hex')})` : '';
    super(
      'InternalServerError',
      `A stored item is damaged${at}: its bytes are not those that were written. ` +
        '`stak dynamodb check` names what is damaged; restore a backup',
      {},
      500,
    );
    this.key = key;
  }
}

export const itemDamaged = (): DynamoError => new ItemDamage();
