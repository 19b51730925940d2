import { validationError } from '../errors.ts';
import { constraintError } from './constraints.ts';
import { nameInArn } from './table-name.ts';

const binaryAsText = (_: string, value: unknown) =>
  value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;

const pattern = /^[a-zA-Z0-9_.-]{1,255}$/;

// The names or ARNs of the tables are the keys of the request's map; the answer has the same keys.
export function checkBatchTables(tables: object, operation: string): void {
  let empty = true;
  for (const name in tables) {
    empty = false;
    if (pattern.test(nameInArn(name))) continue;
    throw constraintError([
      `Value '${JSON.stringify(tables, binaryAsText)}' at 'requestItems' failed to satisfy constraint: Map keys must ` +
        'satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater ' +
        'than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]',
    ]);
  }
  if (empty) throw validationError(`The requestItems parameter is required for ${operation}`);
}
