import { validationError } from '../errors.ts';
import * as limits from '../limits.ts';
import { invalid } from './attribute-values.ts';
import { checkConstraints } from './constraints.ts';
import { boolean, list, required, string, structure, type TypeOf } from './shape.ts';
import {
  checkDefinedOnce,
  checkGlobalKeys,
  checkKeyOrder,
  checkKeysDefined,
  checkOnDemandRange,
  checkProjection,
  checkThroughput,
  refuseThroughput,
} from './table-definition.ts';
import { checkPolicy } from './table-extras.ts';
import { tableMembers } from './table-members.ts';
import { checkTableNamePresence, newTableName } from './table-name.ts';
import { checkTags, tag } from './tags.ts';
import { checkVectorIndexes, onDemandOnly, vectorIndexes } from './vector-indexes.ts';
import { checkNewWarmThroughput } from './warm-throughput.ts';

export const localIndex = structure('LocalSecondaryIndex', {
  IndexName: tableMembers.indexName,
  KeySchema: tableMembers.keySchema,
  Projection: tableMembers.projection,
});

export const globalIndex = structure('GlobalSecondaryIndex', {
  IndexName: tableMembers.indexName,
  KeySchema: tableMembers.globalKeySchema,
  Projection: tableMembers.projection,
  ProvisionedThroughput: tableMembers.provisionedThroughput,
  OnDemandThroughput: tableMembers.onDemandThroughput,
  WarmThroughput: tableMembers.warmThroughput,
});

export const createTableShape = structure('CreateTableInput', {
  TableName: newTableName,
  AttributeDefinitions: required(tableMembers.attributeDefinitions),
  BillingMode: tableMembers.billingMode,
  ProvisionedThroughput: tableMembers.provisionedThroughput,
  KeySchema: tableMembers.keySchema,
  LocalSecondaryIndexes: list(localIndex),
  GlobalSecondaryIndexes: list(globalIndex),
  StreamSpecification: tableMembers.streamSpecification,
  SSESpecification: tableMembers.sseSpecification,
  TableClass: tableMembers.tableClass,
  DeletionProtectionEnabled: boolean,
  OnDemandThroughput: tableMembers.onDemandThroughput,
  Tags: list(tag),
  ResourcePolicy: string(),
  WarmThroughput: tableMembers.warmThroughput,
  GlobalTableSourceArn: tableMembers.replication,
  GlobalTableSettingsReplicationMode: tableMembers.replication,
  VectorIndexes: vectorIndexes,
});
export type CreateTableInput = TypeOf<typeof createTableShape>;
type LocalSecondaryIndexInput = TypeOf<typeof localIndex>;
type GlobalSecondaryIndexInput = TypeOf<typeof globalIndex>;

export function validateCreateTable(input: CreateTableInput): void {
  checkTableNamePresence(input);
  checkConstraints(createTableShape, input);
  checkBilling(input);
  checkKeySchema(input);
  const names = new Set<string>();
  if (input.LocalSecondaryIndexes) checkLocalIndexes(input, input.LocalSecondaryIndexes, names);
  if (input.GlobalSecondaryIndexes) checkGlobalIndexes(input, input.GlobalSecondaryIndexes, names);
  if (input.VectorIndexes?.length) {
    if (input.BillingMode !== 'PAY_PER_REQUEST') throw onDemandOnly();
    checkVectorIndexes(input.VectorIndexes, input.AttributeDefinitions, name => addIndexName(names, name));
  }
  checkDefinitionsUsed(input);
  checkNewWarmThroughput(input);
  checkStream(input.StreamSpecification);
  if (input.Tags) checkTags(input.Tags);
  if (input.ResourcePolicy) checkPolicy(input.ResourcePolicy);
}

function checkBilling(input: CreateTableInput): void {
  const { ProvisionedThroughput: throughput, OnDemandThroughput: onDemand } = input;
  if (input.BillingMode === 'PAY_PER_REQUEST') {
    if (throughput) refuseThroughput();
    if (onDemand) checkOnDemandRange(onDemand, false);
    return;
  }
  if (!throughput) {
    throw invalid(
      'ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED',
    );
  }
  checkThroughput(throughput);
  for (const name of ['MaxReadRequestUnits', 'MaxWriteRequestUnits'] as const) {
    if (onDemand?.[name] == null) continue;
    throw invalid(
      `${name} for OnDemandThroughput cannot be specified when table BillingMode is PROVISIONED.`,
    );
  }
}

function checkKeySchema(input: CreateTableInput): void {
  const { KeySchema: keys, AttributeDefinitions: definitions } = input;
  if (keys.length > definitions.length) {
    throw validationError('Invalid KeySchema: Some index key attribute have no definition');
  }
  checkKeysDefined(keys, definitions);
  checkKeyOrder(keys);
  checkDefinedOnce(definitions);
  const hasIndexes =
    input.LocalSecondaryIndexes ?? input.GlobalSecondaryIndexes ?? (input.VectorIndexes?.length || undefined);
  if (!hasIndexes && keys.length !== definitions.length) {
    throw invalid(
      'Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions',
    );
  }
}

function checkLocalIndexes(
  { KeySchema, AttributeDefinitions }: CreateTableInput,
  indexes: LocalSecondaryIndexInput[],
  names: Set<string>,
): void {
  if (indexes.length === 0) throw invalid('List of LocalSecondaryIndexes is empty');
  if (KeySchema.length < 2) {
    throw invalid(
      'Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex',
    );
  }
  const tableHash = KeySchema[0]?.AttributeName;
  for (const { IndexName: name, KeySchema: keys, Projection: projection } of indexes) {
    checkKeysDefined(keys, AttributeDefinitions);
    checkKeyOrder(keys);
    if (keys.length < 2) throw invalid(`Index KeySchema does not have a range key for index: ${name}`);
    const hash = keys[0]?.AttributeName;
    if (hash !== tableHash) {
      throw invalid(
        `Index KeySchema does not have the same leading hash key as table KeySchema for index: ${name}. ` +
          `index hash key: ${hash}, table hash key: ${tableHash}`,
      );
    }
    checkProjection(projection);
    addIndexName(names, name);
  }
  if (indexes.length > limits.localIndexes) {
    throw invalid(`Number of LocalSecondaryIndexes exceeds per-table limit of ${limits.localIndexes}`);
  }
}

function checkGlobalIndexes(
  { BillingMode, AttributeDefinitions }: CreateTableInput,
  indexes: GlobalSecondaryIndexInput[],
  names: Set<string>,
): void {
  if (indexes.length === 0) throw invalid('List of GlobalSecondaryIndexes is empty');
  for (const index of indexes) {
    checkKeysDefined(index.KeySchema, AttributeDefinitions);
    checkGlobalKeys(index.KeySchema);
    checkProjection(index.Projection);
    checkIndexThroughput(index, BillingMode);
    addIndexName(names, index.IndexName);
  }
  if (indexes.length > limits.globalIndexes) {
    throw invalid(`GlobalSecondaryIndex count exceeds the per-table limit of ${limits.globalIndexes}`);
  }
}

function checkIndexThroughput(index: GlobalSecondaryIndexInput, billingMode: string | undefined): void {
  const { IndexName: name, ProvisionedThroughput: throughput } = index;
  if (billingMode === 'PAY_PER_REQUEST') {
    if (!throughput) return;
    throw invalid(
      `ProvisionedThroughput should not be specified for index: ${name} when BillingMode is PAY_PER_REQUEST`,
    );
  }
  if (!throughput) throw invalid(`ProvisionedThroughput is not specified for index: ${name}`);
  checkThroughput(throughput);
}

function addIndexName(names: Set<string>, name: string): void {
  if (names.has(name)) throw invalid(`Duplicate index name: ${name}`);
  names.add(name);
}

function checkDefinitionsUsed(input: CreateTableInput): void {
  const indexes = [...(input.LocalSecondaryIndexes ?? []), ...(input.GlobalSecondaryIndexes ?? [])];
  const used = new Set(
    [...[input, ...indexes].map(({ KeySchema }) => KeySchema), ...searchSchemas(input)].flatMap(schema =>
      schema.map(({ AttributeName }) => AttributeName),
    ),
  );
  const defined = input.AttributeDefinitions.map(definition => definition.AttributeName);
  if (defined.every(name => used.has(name))) return;
  throw invalid(
    'Some AttributeDefinitions are not used. ' +
      `AttributeDefinitions: [${defined.join(', ')}], keys used: [${[...used].join(', ')}]`,
  );
}

const searchSchemas = ({ VectorIndexes = [] }: CreateTableInput) =>
  VectorIndexes.map(({ SearchSchema = [] }) => SearchSchema);

function checkStream(stream: CreateTableInput['StreamSpecification']): void {
  if (!stream) return;
  if (!stream.StreamEnabled && stream.StreamViewType) {
    throw invalid('Table is being created with a stream disabled, UpdateViewType should not be specified');
  }
  if (stream.StreamEnabled && !stream.StreamViewType) {
    throw invalid('Table is being created with a stream enabled, UpdateViewType is required');
  }
}
