import { validationError } from '../errors.ts';
import { constraintError } from './constraints.ts';
import { echo } from './echo.ts';
import { nameInArn } from './table-name.ts';

// JSON.stringify has already converted a Buffer to numbers when its value gets here.
function binaryAsText(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const given = this[name];
  return given instanceof Uint8Array ? Buffer.from(given).toString('base64') : value;
}

// A caller in the same process may pass values that JSON cannot express.
function textOf(tables: object): string {
  try {
    return JSON.stringify(tables, binaryAsText);
  } catch {
    return echo(tables);
  }
}

const pattern = /^[a-zA-Z0-9_.-]{1,255}$/;

// The names or ARNs of the tables are the keys of the request's map; the answer has the same keys.
export function checkBatchTables(tables: object, operation: string): void {
  let empty = true;
  for (const name in tables) {
    empty = false;
    if (pattern.test(nameInArn(name))) continue;
    throw constraintError([
      `Value '${textOf(tables)}' at 'requestItems' failed to satisfy constraint: Map keys must ` +
        'satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater ' +
        'than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]',
    ]);
  }
  if (empty) throw validationError(`The requestItems parameter is required for ${operation}`);
}
