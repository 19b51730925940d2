import { validationError } from '../errors.ts';
import type { Condition, Test } from '../expressions/condition.ts';
import {
  head,
  indexRange,
  itemRange,
  type KeyRange,
  prefixRange,
  type RangeCondition,
  space,
} from '../storage/keys.ts';
import type { Index, KeySchema, Table } from '../storage/table.ts';
import { checkKeyBounds } from '../validation/keys.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import { compareScalars, equalValues } from '../values/compare.ts';
import type { OrderTerm } from './ast.ts';
import { mistypedKey } from './faults.ts';
import { conjunctsOf, equalityOn, joined, rangeOn, valuesAllowed } from './key-tests.ts';

// How the items are found: a stretch of each partition that the WHERE clause names, read one after the other,
// or everything. What the stretches do not express is left to the filter.
export type AccessPath = {
  ranges: KeyRange[];
  reverse: boolean;
  filter?: Test;
  // Whether the clause names partitions at all, and whether it names a single item of the table.
  keyed: boolean;
  single: boolean;
};

const maxReads = 50;

export function findAccessPath(
  table: Table,
  index: Index | undefined,
  where: Condition | undefined,
  order: OrderTerm[],
): AccessPath {
  const { keys } = index ?? table;
  const hashes = where && valuesAllowed(where.test, keys.hash.name);
  checkOrder(keys, where, hashes, order);
  if (!hashes) return scanPath(table, index, where);
  checkHashes(keys, hashes);
  const hashTerm = order.find(({ name }) => name === keys.hash.name);
  if (hashTerm) hashes.sort((a, b) => compareScalars(a, b) * (hashTerm.descending ? -1 : 1));
  const { range, filter } = narrow(keys, where.test, hashes);
  for (const hash of hashes) checkKeyBounds(hash, range);
  return {
    ranges: hashes.map(hash => (index ? indexRange(index, hash, range) : itemRange(table, hash, range))),
    reverse: isReverse(keys, order),
    filter,
    keyed: true,
    single: !index && hashes.length === 1 && (!keys.range || range?.op === '='),
  };
}

const scanPath = (table: Table, index: Index | undefined, where: Condition | undefined): AccessPath => ({
  ranges: [prefixRange(index ? head(space.index, index.id) : head(space.item, table.id))],
  reverse: false,
  filter: where?.test,
  keyed: false,
  single: false,
});

// One test of the range key bounds the stretch; with one partition, what the bounds say is not tested again.
function narrow(
  keys: KeySchema,
  where: Test,
  hashes: AttributeValue[],
): { range?: RangeCondition; filter?: Test } {
  const tests = conjunctsOf(where);
  let range: RangeCondition | undefined;
  let rangeTest: Test | undefined;
  for (const test of tests) {
    if (!keys.range) break;
    const found = rangeOn(test, keys.range);
    if (found && (!range || found.op === '=')) [range, rangeTest] = [found, test];
  }
  const [hash] = hashes;
  const namesHash = (test: Test) => {
    const value = equalityOn(test, keys.hash.name);
    return value !== undefined && equalValues(value, hash!);
  };
  const hashTest = hashes.length === 1 ? tests.find(namesHash) : undefined;
  return { range, filter: joined(tests.filter(test => test !== rangeTest && test !== hashTest)) };
}

function checkHashes({ hash }: KeySchema, hashes: AttributeValue[]): void {
  if (hashes.some(value => !(hash.type in value))) throw validationError(mistypedKey(hash.name));
  if (hashes.length > maxReads) {
    throw validationError('Too many decomposed read operations for a given query.');
  }
  if (hashes.some((value, i) => hashes.slice(0, i).some(other => equalValues(other, value)))) {
    throw validationError('Overlapping conditions with range keys are not supported in where clause');
  }
}

function checkOrder(
  keys: KeySchema,
  where: Condition | undefined,
  hashes: AttributeValue[] | undefined,
  order: OrderTerm[],
): void {
  if (order.length === 0) return;
  if (!where) {
    throw validationError('Must have WHERE clause in the statement when using ORDER BY clause.');
  }
  for (const { name } of order) {
    if (name === keys.hash.name || name === keys.range?.name) continue;
    throw validationError(`Attribute ${name} in ORDER BY clause must be part of the primary key`);
  }
  if (!hashes) {
    throw validationError(
      'Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.',
    );
  }
  if (hashes.length > 1 && !order.some(({ name }) => name === keys.hash.name)) {
    throw validationError(
      'Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.',
    );
  }
}

// An order by the hash key alone turns the range key around in DynamoDB, whichever way it asks for.
function isReverse(keys: KeySchema, order: OrderTerm[]): boolean {
  if (order.length === 0) return false;
  return order.find(({ name }) => name === keys.range?.name)?.descending ?? true;
}
