import { validationError } from '../errors.ts';
import { attributesOfKey, searchAttributes, type Table, vectorsOf } from '../storage/table.ts';
import { invalid } from './attribute-values.ts';
import { checkConstraints, constraintError, violation } from './constraints.ts';
import { boolean, list, structure, type TypeOf } from './shape.ts';
import {
  checkDefinedOnce,
  checkGlobalKeys,
  checkKeysDefined,
  checkOnDemandRange,
  checkProjection,
  checkThroughput,
  refuseThroughput,
} from './table-definition.ts';
import { type AttributeDefinitionsInput, tableMembers } from './table-members.ts';
import { checkTableNameLength, knownTableName, resolveTableArn } from './table-name.ts';
import { checkTableVectors, checkVectorUpdates, vectorIndexUpdates } from './vector-indexes.ts';
import { checkWarmThroughputChanges } from './warm-throughput.ts';

const indexUpdate = structure('GlobalSecondaryIndexUpdate', {
  Update: structure('UpdateGlobalSecondaryIndexAction', {
    IndexName: tableMembers.indexName,
    ProvisionedThroughput: tableMembers.provisionedThroughput,
    OnDemandThroughput: tableMembers.onDemandThroughput,
    WarmThroughput: tableMembers.warmThroughput,
  }),
  Create: structure('CreateGlobalSecondaryIndexAction', {
    Projection: tableMembers.projection,
    IndexName: tableMembers.indexName,
    ProvisionedThroughput: tableMembers.provisionedThroughput,
    KeySchema: tableMembers.globalKeySchema,
    OnDemandThroughput: tableMembers.onDemandThroughput,
    WarmThroughput: tableMembers.warmThroughput,
  }),
  Delete: structure('DeleteGlobalSecondaryIndexAction', { IndexName: tableMembers.indexName }),
});

export const updateTableShape = structure('UpdateTableInput', {
  TableName: knownTableName,
  ProvisionedThroughput: tableMembers.provisionedThroughput,
  BillingMode: tableMembers.billingMode,
  AttributeDefinitions: tableMembers.attributeDefinitions,
  GlobalSecondaryIndexUpdates: list(indexUpdate),
  StreamSpecification: tableMembers.streamSpecification,
  SSESpecification: tableMembers.sseSpecification,
  TableClass: tableMembers.tableClass,
  DeletionProtectionEnabled: boolean,
  OnDemandThroughput: tableMembers.onDemandThroughput,
  WarmThroughput: tableMembers.warmThroughput,
  DisassociationProtectionEnabled: boolean,
  ReplicaUpdates: tableMembers.replication,
  MultiRegionConsistency: tableMembers.replication,
  GlobalTableWitnessUpdates: tableMembers.replication,
  GlobalTableSettingsReplicationMode: tableMembers.replication,
  VectorIndexUpdates: vectorIndexUpdates,
});
export type UpdateTableInput = TypeOf<typeof updateTableShape>;
type GlobalSecondaryIndexUpdateInput = TypeOf<typeof indexUpdate>;

export function validateUpdateTable(input: UpdateTableInput): void {
  resolveTableArn(input);
  checkTableNameLength(input);
  checkConstraints(updateTableShape, input);
  const updates = input.GlobalSecondaryIndexUpdates;
  const changes =
    input.ProvisionedThroughput ??
    input.BillingMode ??
    input.StreamSpecification ??
    input.SSESpecification ??
    input.TableClass ??
    input.DeletionProtectionEnabled ??
    input.OnDemandThroughput ??
    input.WarmThroughput ??
    input.DisassociationProtectionEnabled;
  const vectorUpdates = input.VectorIndexUpdates;
  if (changes == null && !updates?.length && !vectorUpdates?.length) {
    throw validationError(
      'At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, ' +
        'SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, ' +
        'DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required',
    );
  }
  if (input.BillingMode === 'PROVISIONED' && !input.ProvisionedThroughput) {
    throw invalid('ProvisionedThroughput must be specified when BillingMode is PROVISIONED');
  }
  if (input.BillingMode === 'PAY_PER_REQUEST' && input.ProvisionedThroughput) refuseThroughput();
  if (input.ProvisionedThroughput) checkThroughput(input.ProvisionedThroughput);
  if (input.OnDemandThroughput) checkOnDemandRange(input.OnDemandThroughput, true);
  checkAlone(input);
  if (updates) checkIndexUpdates(updates);
  if (vectorUpdates) checkVectorUpdates(vectorUpdates, input.AttributeDefinitions ?? []);
}

// Some changes must be made one by one.
function checkAlone(input: UpdateTableInput): void {
  const { AttributeDefinitions: _, TableName: __, ...changes } = input;
  const asked = Object.entries(changes).filter(([, change]) => change != null).length;
  if (asked < 2) return;
  const alone = {
    'Server-Side Encryption': input.SSESpecification,
    TableClass: input.TableClass,
    DeletionProtection: input.DeletionProtectionEnabled,
  };
  for (const [name, change] of Object.entries(alone)) {
    if (change != null) throw invalid(`${name} modification must be the only operation in the request`);
  }
}

const indexActions =
  'GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete';

function checkIndexUpdates(updates: GlobalSecondaryIndexUpdateInput[]): void {
  const names = new Set<string>();
  for (const [i, { Update, Create, Delete }] of updates.entries()) {
    const actions = [Update, Create, Delete].filter(action => action != null);
    const [action] = actions;
    if (!action) throw invalid(`One of ${indexActions} must not be null`);
    if (actions.length > 1) {
      throw invalid(
        'Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object',
      );
    }
    if (names.has(action.IndexName)) {
      throw invalid(
        `Only one global secondary index update per index is allowed simultaneously. Index: ${action.IndexName}`,
      );
    }
    names.add(action.IndexName);
    if (Update && !Update.ProvisionedThroughput && !Update.OnDemandThroughput && !Update.WarmThroughput) {
      const path = `globalSecondaryIndexUpdates.${i + 1}.member.update.provisionedThroughput`;
      throw constraintError([violation(null, path, 'Member must not be null')]);
    }
    if (Create) {
      checkGlobalKeys(Create.KeySchema);
      checkProjection(Create.Projection);
    }
  }
}

// Checks that need the table: its billing mode, and the attributes it already defines.
export function checkTableUpdate(table: Table, input: UpdateTableInput): void {
  const billing = input.BillingMode ?? table.billing;
  if (billing === 'PAY_PER_REQUEST' && input.ProvisionedThroughput) refuseThroughput();
  if (billing === 'PROVISIONED') {
    for (const name of ['MaxReadRequestUnits', 'MaxWriteRequestUnits'] as const) {
      if (input.OnDemandThroughput?.[name] == null) continue;
      throw invalid(
        `${name} for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED`,
      );
    }
  }
  checkThroughputChanges(table, input);
  checkWarmThroughputChanges(table, input);
  checkDefinitions(table, input.AttributeDefinitions ?? []);
  checkTableVectors(table, input.VectorIndexUpdates ?? [], billing);
  for (const { Create } of input.GlobalSecondaryIndexUpdates ?? []) {
    if (!Create) continue;
    if ([...table.indexes, ...vectorsOf(table)].some(index => index.name === Create.IndexName)) {
      throw validationError('Attempting to create an index which already exists');
    }
    if (!input.AttributeDefinitions?.length) {
      throw invalid(`AttributeDefinitions is not specified for index: ${Create.IndexName}`);
    }
    checkKeysDefined(Create.KeySchema, input.AttributeDefinitions);
    if (billing === 'PROVISIONED' && !Create.ProvisionedThroughput) {
      throw invalid(`ProvisionedThroughput must be specified for index: ${Create.IndexName}`);
    }
    if (billing === 'PAY_PER_REQUEST' && Create.ProvisionedThroughput) {
      throw invalid(
        `ProvisionedThroughput should not be specified for index: ${Create.IndexName} when BillingMode is PAY_PER_REQUEST`,
      );
    }
  }
}

function checkThroughputChanges(
  table: Table,
  { BillingMode, ProvisionedThroughput: wanted }: UpdateTableInput,
): void {
  if (!wanted || (BillingMode && BillingMode !== table.billing)) return;
  const { read, write } = table.throughput;
  if (wanted.ReadCapacityUnits !== read || wanted.WriteCapacityUnits !== write) return;
  throw validationError(
    'The provisioned throughput for the table will not change. The requested value equals the current value. ' +
      `Current ReadCapacityUnits provisioned for the table: ${read}. Requested ReadCapacityUnits: ${read}. ` +
      `Current WriteCapacityUnits provisioned for the table: ${write}. Requested WriteCapacityUnits: ${write}. ` +
      'Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.',
  );
}

// A key attribute that is defined again must keep its type.
function checkDefinitions(table: Table, definitions: AttributeDefinitionsInput): void {
  checkDefinedOnce(definitions);
  const keys = [table, ...table.indexes].flatMap(({ keys }) => attributesOfKey(keys));
  const declared = [...keys, ...vectorsOf(table).flatMap(searchAttributes)];
  const types = new Map(declared.map(({ name, type }) => [name, type] as const));
  for (const { AttributeName: name, AttributeType: type } of definitions) {
    const defined = types.get(name) ?? type;
    if (defined === type) continue;
    throw invalid(
      `Attribute ${name} in AttributeDefinitions is a key of type ${defined} and cannot be redefined as ${type}`,
    );
  }
}
