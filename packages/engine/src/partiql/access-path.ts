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
import {
  hashAttributes,
  type Index,
  type KeyAttribute,
  type KeySchema,
  rangeAttributes,
  type Table,
} from '../storage/table.ts';
import { checkKeyBounds, isKeyOf } from '../validation/keys.ts';
import type { AttributeValue } from '../values/attribute-value.ts';
import { compareScalars, equalValues } from '../values/compare.ts';
import type { OrderTerm } from './ast.ts';
import { mistypedKey } from './faults.ts';
import { conjunctsOf, equalityOn, joined, rangeOn, valuesAllowed } from './key-tests.ts';

// How the items are found: a range of each partition that the WHERE clause names, read one after the other, or
// everything. What the ranges do not express is left to the filter.
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
  const hashes = where && hashesAllowed(keys, where.test);
  checkOrder(keys, where, hashes, order);
  if (!hashes) return scanPath(table, index, where);
  checkHashes(keys, hashes);
  sortHashes(keys, hashes, order);
  checkRangeLists(keys, where.test, hashes.length);
  const { range, filter } = narrow(keys, where.test, hashes);
  for (const hash of hashes) checkKeyBounds({ hash, range });
  return {
    ranges: hashes.map(hash =>
      index ? indexRange(index, { hash, range }) : itemRange(table, { hash, range }),
    ),
    reverse: isReverse(keys, order),
    filter,
    keyed: true,
    single: !index && hashes.length === 1 && (!keys.range || range[0]?.op === '='),
  };
}

// Every combination of values that the hash attributes can have; undefined if the clause does not restrict one of them.
function hashesAllowed(keys: KeySchema, where: Test): AttributeValue[][] | undefined {
  let hashes: AttributeValue[][] = [[]];
  for (const { name } of hashAttributes(keys)) {
    const values = valuesAllowed(where, name);
    if (!values) return undefined;
    if (hashes.length > 1 && hashes.length * values.length > maxReads) throw tooManyReads();
    hashes = hashes.flatMap(hash => values.map(value => [...hash, value]));
  }
  return hashes;
}

function sortHashes(keys: KeySchema, hashes: AttributeValue[][], order: OrderTerm[]): void {
  const names = hashAttributes(keys).map(({ name }) => name);
  for (const { name, descending } of order.toReversed()) {
    const i = names.indexOf(name);
    if (i < 0) continue;
    hashes.sort((a, b) => compareScalars(a[i]!, b[i]!) * (descending ? -1 : 1));
  }
}

const scanPath = (table: Table, index: Index | undefined, where: Condition | undefined): AccessPath => ({
  ranges: [prefixRange(index ? head(space.index, index.id) : head(space.item, table.id))],
  reverse: false,
  filter: where?.test,
  keyed: false,
  single: false,
});

// Conditions on the range attributes bound the key range, up to the first that is not an equality. With one partition,
// conditions that the bounds already cover are not tested again.
function narrow(
  keys: KeySchema,
  where: Test,
  hashes: AttributeValue[][],
): { range: RangeCondition[]; filter?: Test } {
  const tests = conjunctsOf(where);
  const range: RangeCondition[] = [];
  const expressed = new Set<Test>();
  for (const attribute of rangeAttributes(keys)) {
    const [test, found] = rangeAmong(tests, attribute) ?? [];
    if (!test || !found) break;
    range.push(found);
    expressed.add(test);
    if (found.op !== '=') break;
  }
  if (hashes.length === 1) {
    hashAttributes(keys).forEach(({ name }, i) => {
      const named = tests.find(test => {
        const value = equalityOn(test, name);
        return value !== undefined && equalValues(value, hashes[0]![i]!);
      });
      if (named) expressed.add(named);
    });
  }
  return { range, filter: joined(tests.filter(test => !expressed.has(test))) };
}

function rangeAmong(tests: Test[], attribute: KeyAttribute): [Test, RangeCondition] | undefined {
  let best: [Test, RangeCondition] | undefined;
  for (const test of tests) {
    const range = rangeOn(test, attribute);
    if (range && (!best || range.op === '=')) best = [test, range];
  }
  return best;
}

function checkHashes(keys: KeySchema, hashes: AttributeValue[][]): void {
  hashAttributes(keys).forEach(({ name, type }, i) => {
    if (hashes.some(hash => !(type in hash[i]!))) throw validationError(mistypedKey(name));
  });
  if (hashes.length > maxReads) throw tooManyReads();
  const same = (a: AttributeValue[], b: AttributeValue[]) => a.every((value, i) => equalValues(value, b[i]!));
  if (hashes.some((hash, i) => hashes.slice(0, i).some(other => same(other, hash)))) {
    throw validationError('Overlapping conditions with range keys are not supported in where clause');
  }
}

// DynamoDB reads a list of range keys one by one; here the filter applies them, within the same limits.
function checkRangeLists({ range }: KeySchema, where: Test, hashes: number): void {
  if (!range) return;
  for (const test of conjunctsOf(where)) {
    const values = test.kind === 'in' ? valuesAllowed(test, range.name) : undefined;
    if (!values) continue;
    if (values.some(value => !(range.type in value))) throw validationError(mistypedKey(range.name));
    if (values.length * hashes > maxReads) throw tooManyReads();
  }
}

const tooManyReads = () => validationError('Too many decomposed read operations for a given query.');

function checkOrder(
  keys: KeySchema,
  where: Condition | undefined,
  hashes: AttributeValue[][] | undefined,
  order: OrderTerm[],
): void {
  if (order.length === 0) return;
  if (!where) {
    throw validationError('Must have WHERE clause in the statement when using ORDER BY clause.');
  }
  for (const { name } of order) {
    if (isKeyOf(keys, name)) continue;
    throw validationError(`Attribute ${name} in ORDER BY clause must be part of the primary key`);
  }
  if (!hashes) {
    throw validationError(
      'Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.',
    );
  }
  const isHash = (name: string) => hashAttributes(keys).some(attribute => attribute.name === name);
  if (hashes.length > 1 && !order.some(({ name }) => isHash(name))) {
    throw validationError(
      'Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.',
    );
  }
}

// In DynamoDB, an order by the hash key alone reverses the range key, for ASC and DESC.
function isReverse(keys: KeySchema, order: OrderTerm[]): boolean {
  if (order.length === 0) return false;
  const isRange = (name: string) => rangeAttributes(keys).some(attribute => attribute.name === name);
  return order.find(({ name }) => isRange(name))?.descending ?? true;
}
