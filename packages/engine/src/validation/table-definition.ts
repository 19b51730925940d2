import { validationError } from '../errors.ts';
import { keyPartAttributes } from '../limits.ts';
import { invalid } from './attribute-values.ts';
import type {
  AttributeDefinitionsInput,
  KeySchemaInput,
  OnDemandThroughputInput,
  ProjectionInput,
  ThroughputInput,
} from './table-members.ts';

const maxCapacityUnits = 1_000_000_000_000;

export function checkThroughput(throughput: ThroughputInput): void {
  for (const name of ['ReadCapacityUnits', 'WriteCapacityUnits'] as const) {
    const units = throughput[name];
    if (units > maxCapacityUnits) throw validationError(`Given value ${units} for ${name} is out of bounds`);
  }
}

export function refuseThroughput(): never {
  throw invalid(
    'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST',
  );
}

// UpdateTable takes -1, which lifts the ceiling.
export function checkOnDemandRange(throughput: OnDemandThroughputInput, isUpdate: boolean): void {
  for (const name of ['MaxReadRequestUnits', 'MaxWriteRequestUnits'] as const) {
    const units = throughput[name];
    if (units == null || units >= 1 || (isUpdate && units === -1)) continue;
    throw invalid(`Requested ${name} for OnDemandThroughput for table is outside of valid range`);
  }
}

export function checkKeysDefined(keys: KeySchemaInput, definitions: AttributeDefinitionsInput): void {
  const names = keys.map(key => key.AttributeName);
  const defined = definitions.map(definition => definition.AttributeName);
  if (names.every(name => defined.includes(name))) return;
  throw invalid(
    'Some index key attributes are not defined in AttributeDefinitions. ' +
      `Keys: [${names.join(', ')}], AttributeDefinitions: [${defined.join(', ')}]`,
  );
}

const firstRepeated = (names: string[]): string | undefined =>
  names.find((name, i) => names.indexOf(name) < i);

export function checkDefinedOnce(definitions: AttributeDefinitionsInput): void {
  const repeated = firstRepeated(definitions.map(({ AttributeName }) => AttributeName));
  if (repeated !== undefined) throw validationError(`Attribute Name is duplicated: ${repeated}`);
}

export function checkKeyOrder([hash, range]: KeySchemaInput): void {
  if (range && hash?.AttributeName === range.AttributeName) {
    throw validationError('Both the Hash Key and the Range Key element in the KeySchema have the same name');
  }
  if (hash?.KeyType !== 'HASH') {
    throw validationError('Invalid KeySchema: The first KeySchemaElement is not a HASH key type');
  }
  if (range && range.KeyType !== 'RANGE') {
    throw validationError('Invalid KeySchema: The second KeySchemaElement is not a RANGE key type');
  }
}

// A global index can have several attributes in each part of its key.
export function checkGlobalKeys(keys: KeySchemaInput): void {
  const [first, second] = keys;
  if (keys.length <= 2 && second?.KeyType !== 'HASH') {
    checkKeyOrder(keys);
    return;
  }
  if (first?.KeyType !== 'HASH') {
    throw validationError('Invalid KeySchema: The first KeySchemaElement is not a HASH key type');
  }
  const firstRange = keys.findIndex(key => key.KeyType === 'RANGE');
  const hashes = keys.filter(key => key.KeyType === 'HASH').length;
  if (firstRange >= 0 && firstRange < hashes) {
    throw invalid('All HASH key attributes must precede RANGE key attributes in the KeySchema');
  }
  for (const [type, count] of Object.entries({ HASH: hashes, RANGE: keys.length - hashes })) {
    if (count <= keyPartAttributes) continue;
    throw invalid(`The KeySchema exceeds the maximum allowed number of ${type} key attributes`);
  }
  if (new Set(keys.map(key => key.AttributeName)).size < keys.length) {
    throw validationError('The KeySchema contains multiple key attributes with the same name');
  }
}

export function checkProjection({ ProjectionType: type, NonKeyAttributes: names }: ProjectionInput): void {
  if (type == null) throw invalid('Unknown ProjectionType: null');
  if (names && type !== 'INCLUDE') {
    throw invalid(`ProjectionType is ${type}, but NonKeyAttributes is specified`);
  }
  if (!names && type === 'INCLUDE') {
    throw invalid('ProjectionType is INCLUDE, but NonKeyAttributes is not specified');
  }
  const repeated = names && firstRepeated(names);
  if (repeated !== undefined) throw invalid(`Duplicate element in NonKeyAttributes: ${repeated}`);
}
