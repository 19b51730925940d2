import { DynamoError, validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import type { KeyBounds } from '../storage/keys.ts';
import {
  attributesOfKey,
  hashAttributes,
  type Index,
  type KeyAttribute,
  type KeySchema,
  rangeAttributes,
  searchAttributes,
  type Table,
  vectorsOf,
} from '../storage/table.ts';
import { type AttributeValue, type Item, type KeyType, typeOf } from '../values/attribute-value.ts';
import { equalValues } from '../values/compare.ts';
import { byteLength } from '../values/size.ts';
import { invalid } from './attribute-values.ts';
import { checkVector } from './vector-values.ts';

// Checks that need the table. Values are already valid, one type each.
const mismatch = 'The provided key element does not match the schema';

// `Key` of GetItem, UpdateItem, DeleteItem and their batch and transaction forms.
export function checkKey(table: Table, key: Item): void {
  const { hash, range } = table.keys;
  let count = 0;
  for (const _ in key) count++;
  if (count !== (range ? 2 : 1)) throw validationError(mismatch);
  checkKeyPart(key, hash, true);
  if (range) checkKeyPart(key, range, false);
}

function checkKeyPart(key: Item, attribute: KeyAttribute, isHash: boolean): void {
  const value = key[attribute.name];
  if (value === undefined || !(attribute.type in value)) throw validationError(mismatch);
  checkKeyValue(value, attribute, isHash);
}

// A value that a read compares with a key must itself fit a key.
export function checkKeyBounds({ hash, range }: KeyBounds): void {
  if (sizeOfAll(hash) > limits.hashKeyBytes) throw oversizedKey(true);
  const sizes = range.map(test =>
    test.op === 'BETWEEN' ? Math.max(keySize(test.from), keySize(test.to)) : keySize(test.value),
  );
  if (sizes.reduce((sum, size) => sum + size, 0) > limits.rangeKeyBytes) throw oversizedKey(false);
}

const sizeOfAll = (values: AttributeValue[]): number =>
  values.reduce((sum, value) => sum + keySize(value), 0);

// `Item` of PutItem and its forms: the table's keys are there, and index keys fit if they are.
export function checkItemKeys(table: Table, item: Item): void {
  checkItemKey(item, table.keys.hash, true);
  if (table.keys.range) checkItemKey(item, table.keys.range, false);
  if (table.indexes.length > 0) checkIndexKeys(table, item);
  if (table.vectors) checkVectors(table, item);
}

// BatchWriteItem has one message for every key of the wrong type.
export function checkBatchItemKeys(table: Table, item: Item): void {
  const { hash, range } = table.keys;
  for (const attribute of range ? [hash, range] : [hash]) {
    const value = item[attribute.name];
    if (value !== undefined && !(attribute.type in value)) throw validationError(mismatch);
  }
  checkItemKeys(table, item);
}

function checkItemKey(item: Item, attribute: KeyAttribute, isHash: boolean): void {
  const value = item[attribute.name];
  if (value === undefined) throw invalid(`Missing the key ${attribute.name} in the item`);
  if (!(attribute.type in value)) {
    throw invalid(
      `Type mismatch for key ${attribute.name} expected: ${attribute.type} actual: ${typeOf(value)}`,
    );
  }
  checkKeyValue(value, attribute, isHash);
}

function checkKeyValue(value: AttributeValue, { name, type }: KeyAttribute, isHash: boolean): void {
  const size = keySize(value);
  if (size === 0) throw emptyKey(`${emptyValue(type)} Key: ${name}`);
  if (size > (isHash ? limits.hashKeyBytes : limits.rangeKeyBytes)) throw oversizedKey(isHash);
}

const keySize = (value: AttributeValue): number =>
  'S' in value ? byteLength(value.S) : 'B' in value ? value.B.byteLength : 1;

const oversizedKey = (isHash: boolean): DynamoError =>
  isHash
    ? invalid(`Size of hashkey has exceeded the maximum size limit of${limits.hashKeyBytes} bytes`)
    : invalid(
        `Aggregated size of all range keys has exceeded the size limit of ${limits.rangeKeyBytes} bytes`,
      );

const emptyPrefix = 'One or more parameter values are not valid. ';
const emptyKey = (message: string): DynamoError => validationError(emptyPrefix + message);
const emptyValue = (type: KeyType): string =>
  `The AttributeValue for a key attribute cannot contain an empty ${type === 'S' ? 'string' : 'binary'} value.`;

// No item has an empty key, so DynamoDB refuses to look for one.
export function checkQueriedKeys(keys: KeySchema, { hash, range }: KeyBounds): void {
  hashAttributes(keys).forEach((attribute, i) => {
    refuseEmpty(attribute, hash[i]!);
  });
  rangeAttributes(keys).forEach((attribute, i) => {
    const test = range[i];
    if (test?.op === '=') refuseEmpty(attribute, test.value);
  });
}

function refuseEmpty({ name, type }: KeyAttribute, value: AttributeValue): void {
  if (keySize(value) === 0) throw emptyKey(`${emptyValue(type)} Key: ${name}`);
}

// Inside TransactWriteItems an empty key rejects the whole request, while any other mismatch is the cancellation reason
// of the action.
export const isEmptyKeyError = (error: unknown): boolean =>
  error instanceof DynamoError && error.message.startsWith(emptyPrefix);

// An item may lack an index's keys, but must not have values that the index cannot hold. Of several indexes, the first
// by name is reported.
function checkIndexKeys(table: Table, item: Item): void {
  refuseFirstMisfit(table, item, undefined, misfit => refuseMisfit(misfit, false));
}

// After an update only the attributes it changed count.
export function checkUpdatedIndexKeys(table: Table, before: Item | undefined, after: Item): void {
  if (table.indexes.length > 0) refuseFirstMisfit(table, after, before, misfit => refuseMisfit(misfit, true));
  if (table.vectors) checkVectors(table, after, before ?? {});
}

function refuseMisfit({ attribute, index, isHash, value }: IndexKey, isUpdate: boolean): never {
  if (!(attribute.type in value)) throw indexTypeMismatch(attribute, index, value);
  if (keySize(value) > 0) throw oversizedKey(isHash);
  throw emptyKey(
    isUpdate
      ? 'The update expression attempted to update a secondary index key to a value that is not supported. ' +
          emptyValue(attribute.type)
      : `A value specified for a secondary index key is not supported. ${emptyValue(attribute.type)} ` +
          `IndexName: ${index.name}, IndexKey: ${attribute.name}`,
  );
}

// An item may lack what a vector index holds, but must not have a value that the index cannot hold.
function checkVectors(table: Table, item: Item, before?: Item): void {
  const isChanged = (name: string): boolean => {
    const [old, next] = [before?.[name], item[name]];
    return next !== undefined && !(old && equalValues(old, next));
  };
  for (const index of vectorsOf(table).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (isChanged(index.attribute)) checkVector(index, item[index.attribute]!);
    for (const attribute of searchAttributes(index)) {
      if (!isChanged(attribute.name)) continue;
      const isHash = attribute === index.hash;
      checkSearchKey({ attribute, index, isHash, value: item[attribute.name]! }, before !== undefined);
    }
  }
}

// The partition key is held to the rules of other index keys. A filter needs only to have its type.
function checkSearchKey(key: IndexKey, isUpdate: boolean): void {
  const { attribute, isHash, value } = key;
  const size = keySize(value);
  const fits = attribute.type in value && (!isHash || (size > 0 && size <= limits.hashKeyBytes));
  if (!fits) refuseMisfit(key, isUpdate);
}

const indexTypeMismatch = (
  { name, type }: KeyAttribute,
  index: { name: string },
  value: AttributeValue,
): DynamoError =>
  invalid(
    `Type mismatch for Index Key ${name} Expected: ${type} Actual: ${typeOf(value)} IndexName: ${index.name}`,
  );

type IndexKey = {
  attribute: KeyAttribute;
  index: { name: string };
  isHash: boolean;
  value: AttributeValue;
};
type Misfit = { attribute: KeyAttribute; index: Index; isHash: boolean; value: AttributeValue };

function refuseFirstMisfit(
  table: Table,
  item: Item,
  before: Item | undefined,
  refuse: (misfit: Misfit) => never,
): void {
  let first: Misfit | undefined;
  for (const index of table.indexes) {
    const { hash, range, more } = index.keys;
    const misfit = more
      ? findComposedMisfit(item, before, index)
      : (findMisfit(item, before, hash, index, true) ??
        (range && findMisfit(item, before, range, index, false)));
    if (misfit && (!first || index.name < first.index.name)) first = misfit;
  }
  if (first) refuse(first);
}

function findMisfit(
  item: Item,
  before: Item | undefined,
  attribute: KeyAttribute,
  index: Index,
  isHash: boolean,
): Misfit | undefined {
  const value = item[attribute.name];
  if (value === undefined) return undefined;
  if (attribute.type in value) {
    const size = keySize(value);
    if (size > 0 && size <= (isHash ? limits.hashKeyBytes : limits.rangeKeyBytes)) return undefined;
  }
  const old = before?.[attribute.name];
  if (old && equalValues(old, value)) return undefined;
  return { attribute, index, isHash, value };
}

// Each of several attributes must fit, and together they must fit their part of the key.
function findComposedMisfit(item: Item, before: Item | undefined, index: Index): Misfit | undefined {
  for (const isHash of [true, false]) {
    const attributes = isHash ? hashAttributes(index.keys) : rangeAttributes(index.keys);
    let size = 0;
    let changed: Misfit | undefined;
    for (const attribute of attributes) {
      const misfit = findMisfit(item, before, attribute, index, isHash);
      if (misfit) return misfit;
      const value = item[attribute.name];
      if (!value || !(attribute.type in value)) continue;
      size += keySize(value);
      const old = before?.[attribute.name];
      if (!old || !equalValues(old, value)) changed = { attribute, index, isHash, value };
    }
    if (changed && size > (isHash ? limits.hashKeyBytes : limits.rangeKeyBytes)) return changed;
  }
  return undefined;
}

// The attributes an update writes, by the first element of each path.
export function checkUpdatedAttributes(table: Table, names: Iterable<string>): void {
  const { hash, range } = table.keys;
  for (const name of names) {
    if (name === hash.name || name === range?.name) {
      throw invalid(`Cannot update attribute ${name}. This attribute is part of the key`);
    }
  }
}

// Attributes that an expression reaches into (`a.b`, `a[0]`): a key is always a scalar.
export function checkNestedPaths(table: Table, names: Iterable<string>): void {
  for (const name of names) {
    const isKey = isKeyOf(table.keys, name);
    if (!isKey && !isIndexKey(table, name)) continue;
    throw validationError(
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: " +
        `${isKey ? 'Key' : 'IndexKey'}: ${name}`,
    );
  }
}

const isIndexKey = (table: Table, name: string): boolean =>
  table.indexes.some(index => isKeyOf(index.keys, name)) ||
  vectorsOf(table).some(index => searchAttributes(index).some(attribute => attribute.name === name));

export const isKeyOf = (keys: KeySchema, name: string): boolean =>
  name === keys.hash.name ||
  name === keys.range?.name ||
  (keys.more !== undefined && attributesOfKey(keys).some(attribute => attribute.name === name));
