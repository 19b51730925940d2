import { DynamoError } from '../errors.ts';
import { deserialize } from './deserialize.ts';
import { type Operation, validators } from './operations.ts';

// For the tests: a request as it arrives over the wire, and DynamoDB's response.
export type Refusal = [title: string, operation: Operation, body: object, message: string | undefined];

export function refusal(operation: Operation, body: unknown): string | undefined {
  try {
    validators[operation](deserialize(operation, body) as never);
    return undefined;
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error;
    return error.name === 'ValidationException' ? error.message : `${error.name}: ${error.message}`;
  }
}
