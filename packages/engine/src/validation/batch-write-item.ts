import { validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { validateAttributes, validateItem } from './attribute-values.ts';
import { checkBatchTables } from './batch-tables.ts';
import { checkConstraints } from './constraints.ts';
import * as members from './members.ts';
import { attributes, list, map, required, structure, type TypeOf } from './shape.ts';

const writeRequest = structure('WriteRequest', {
  DeleteRequest: structure('DeleteRequest', { Key: required(attributes) }),
  PutRequest: structure('PutRequest', { Item: required(attributes) }),
});

export const batchWriteItemShape = structure('BatchWriteItemInput', {
  ReturnConsumedCapacity: members.returnConsumedCapacity,
  ReturnItemCollectionMetrics: members.returnItemCollectionMetrics,
  RequestItems: required(map(list(writeRequest), { min: 1, max: limits.batchWriteRequests })),
});
export type BatchWriteItemInput = TypeOf<typeof batchWriteItemShape>;
export type WriteRequest = TypeOf<typeof writeRequest>;

export function validateBatchWriteItem(input: BatchWriteItemInput): void {
  checkConstraints(batchWriteItemShape, input);
  checkBatchTables(input.RequestItems, 'BatchWriteItem');
  let count = 0;
  for (const name in input.RequestItems) {
    const requests = input.RequestItems[name] as WriteRequest[];
    for (const { PutRequest, DeleteRequest } of requests) {
      if (!PutRequest === !DeleteRequest) {
        throw validationError(
          'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
        );
      }
      if (PutRequest) validateItem(PutRequest.Item);
      if (DeleteRequest) validateAttributes(DeleteRequest.Key);
    }
    count += requests.length;
  }
  if (count > limits.batchWriteRequests) {
    throw validationError('Too many items requested for the BatchWriteItem call');
  }
}
