import { validationError } from '../errors.ts';
import type { Table } from '../storage/table.ts';
import type { AttributeValue, Item } from '../values/attribute-value.ts';

// Text that is equal for equal keys. Numbers are canonical here, so their text can be compared.
function keyIdentity({ keys: { hash, range } }: Table, item: Item): string {
  const first = valueIdentity(item[hash.name] as AttributeValue);
  // The length distinguishes `a` + `bc` from `ab` + `c`.
  return range ? `${first.length}:${first}${valueIdentity(item[range.name] as AttributeValue)}` : first;
}

function valueIdentity(value: AttributeValue): string {
  if ('S' in value) return value.S;
  if ('N' in value) return value.N;
  if ('B' in value) {
    return Buffer.from(value.B.buffer, value.B.byteOffset, value.B.byteLength).toString('latin1');
  }
  throw new TypeError('a key is a string, a number or binary');
}

export type Target = { table: Table; key: Item };

// BatchGetItem and BatchWriteItem. Keys have been checked; a whole item can be passed for its key.
export function checkBatchDuplicates(targets: Iterable<Target>): void {
  if (hasDuplicates(targets)) throw validationError('Provided list of item keys contains duplicates');
}

// A batch can name a table by its name and by its ARN.
export function checkBatchAliases(targets: Target[], names: number): void {
  if (names > 1 && new Set(targets.map(({ table }) => table.id)).size < names) checkBatchDuplicates(targets);
}

export function checkTransactionDuplicates(targets: Iterable<Target>): void {
  if (hasDuplicates(targets)) {
    throw validationError('Transaction request cannot include multiple operations on one item');
  }
}

function hasDuplicates(targets: Iterable<Target>): boolean {
  const seen = new Set<string>();
  let count = 0;
  for (const { table, key } of targets) {
    seen.add(`${table.id}:${keyIdentity(table, key)}`);
    if (seen.size < ++count) return true;
  }
  return false;
}
