import { validationError } from '../errors.ts';
import type { VectorIndex } from '../storage/table.ts';
import { type AttributeValue, typeOf } from '../values/attribute-value.ts';
import { misfitIn } from '../vectors/values.ts';

const prefix = 'One or more parameter values were invalid. ';
const expected = 'Expected: 32-bit floating point number';

export function checkVector({ attribute, dimensions, name }: VectorIndex, value: AttributeValue): void {
  if (!('L' in value)) {
    throw validationError(
      `${prefix}Invalid type for parameter ${attribute}, ${expected} list IndexName: ${name}`,
    );
  }
  if (value.L.length !== dimensions) {
    throw validationError(
      `${prefix}Invalid size for parameter ${attribute}, Expected: ${dimensions}, Actual: ${value.L.length} ` +
        `IndexName: ${name}`,
    );
  }
  const at = misfitIn(value.L);
  if (at === undefined) return;
  throw validationError(
    `${prefix}Invalid type for parameter ${attribute}[${at}], ${expected}, Actual: ${typeOf(value.L[at]!)}. ` +
      `IndexName: ${name}`,
  );
}
