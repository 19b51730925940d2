import { DynamoError, validationError } from '../errors.ts';
import { attributesOfKey, type Index, type KeyAttribute, type Table } from '../storage/table.ts';
import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { checkKey } from './keys.ts';

const invalidStart = 'The provided starting key is invalid';

// ExclusiveStartKey is a position in what is read: the table's key, and with an index also the index's key.
export function checkStartKey(table: Table, index: Index | undefined, key: Item): void {
  const expected = new Map<string, KeyAttribute>();
  for (const { keys } of index ? [table, index] : [table]) {
    for (const attribute of attributesOfKey(keys)) expected.set(attribute.name, attribute);
  }
  if (index) {
    if (Object.keys(key).length !== expected.size) throw validationError(invalidStart);
    for (const { name, type } of expected.values()) {
      const value = key[name];
      if (value === undefined || !(type in value)) throw validationError(invalidStart);
    }
  }
  try {
    checkKey(table, index ? tableKey(table, key) : key);
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error;
    throw validationError(`${invalidStart}: ${error.message}`);
  }
}

function tableKey({ keys: { hash, range } }: Table, key: Item): Item {
  const part = newItem();
  part[hash.name] = key[hash.name] as AttributeValue;
  if (range) part[range.name] = key[range.name] as AttributeValue;
  return part;
}
