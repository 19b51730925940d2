import type { Index, KeySchema, Projection, Table, Throughput, VectorIndex } from '../storage/table.ts';
import type { CreateTableInput } from '../validation/create-table.ts';
import type {
  AttributeDefinitionsInput,
  KeySchemaInput,
  OnDemandThroughputInput,
  ProjectionInput,
  ThroughputInput,
  WarmThroughputInput,
} from '../validation/table-members.ts';
import type { VectorIndexInput } from '../validation/vector-indexes.ts';

// From the request that defines a table to its stored description. The request has been validated.

type Origin = { newId: () => number; uuid: string; now: number };

export function defineTable(input: CreateTableInput, { newId, uuid, now }: Origin): Table {
  const definitions = input.AttributeDefinitions;
  const onDemand = input.BillingMode === 'PAY_PER_REQUEST';
  return {
    id: newId(),
    uuid,
    name: input.TableName,
    createdAt: now,
    keys: keySchemaOf(input.KeySchema, definitions),
    indexes: [
      ...(input.LocalSecondaryIndexes ?? []).map(index => defineIndex('local', index, definitions, newId)),
      ...(input.GlobalSecondaryIndexes ?? []).map(index => defineIndex('global', index, definitions, newId)),
    ],
    ...(input.VectorIndexes?.length && {
      vectors: input.VectorIndexes.map(index => defineVectorIndex(index, definitions, newId)),
    }),
    billing: onDemand ? 'PAY_PER_REQUEST' : 'PROVISIONED',
    throughput: throughputOf(input.ProvisionedThroughput),
    ...(onDemand && { onDemandSince: now }),
    ...(input.OnDemandThroughput && { onDemand: onDemandOf(input.OnDemandThroughput) }),
    ...(input.WarmThroughput && { warm: warmUnitsOf(input.WarmThroughput) }),
    ...(input.TableClass && { tableClass: input.TableClass }),
    deletionProtection: input.DeletionProtectionEnabled ?? false,
    ...(input.SSESpecification?.Enabled && { sse: encryptionOf(input.SSESpecification) }),
    streams: [],
    ...(input.ResourcePolicy && {
      policies: { table: { text: input.ResourcePolicy, revision: String(now) } },
    }),
    tags: Object.fromEntries((input.Tags ?? []).map(({ Key, Value }) => [Key!, Value!])),
  };
}

type IndexInput = {
  IndexName: string;
  KeySchema: KeySchemaInput;
  Projection: ProjectionInput;
  ProvisionedThroughput?: ThroughputInput | undefined;
  OnDemandThroughput?: OnDemandThroughputInput | undefined;
  WarmThroughput?: WarmThroughputInput | undefined;
};

export function defineIndex(
  kind: Index['kind'],
  input: IndexInput,
  definitions: AttributeDefinitionsInput,
  newId: () => number,
): Index {
  return {
    id: newId(),
    name: input.IndexName,
    kind,
    keys: keySchemaOf(input.KeySchema, definitions),
    projection: projectionOf(input.Projection),
    status: 'ACTIVE',
    ...(kind === 'global' && { throughput: throughputOf(input.ProvisionedThroughput) }),
    ...(input.OnDemandThroughput && { onDemand: onDemandOf(input.OnDemandThroughput) }),
    ...(input.WarmThroughput && { warm: warmUnitsOf(input.WarmThroughput) }),
  };
}

function keySchemaOf(keys: KeySchemaInput, definitions: AttributeDefinitionsInput): KeySchema {
  const attributesOf = (keyType: string) =>
    keys
      .filter(({ KeyType }) => KeyType === keyType)
      .map(({ AttributeName: name }) => {
        const definition = definitions.find(({ AttributeName }) => AttributeName === name)!;
        return { name, type: definition.AttributeType };
      });
  const [hash, ...moreHash] = attributesOf('HASH');
  const [range, ...moreRange] = attributesOf('RANGE');
  return {
    hash: hash!,
    ...(range && { range }),
    ...(keys.length > (range ? 2 : 1) && { more: { hash: moreHash, range: moreRange } }),
  };
}

function projectionOf({ ProjectionType: type, NonKeyAttributes }: ProjectionInput): Projection {
  return type === 'INCLUDE' ? { type, attributes: NonKeyAttributes ?? [] } : { type: type ?? 'ALL' };
}

const throughputOf = (input: ThroughputInput | undefined): Throughput => ({
  read: input?.ReadCapacityUnits ?? 0,
  write: input?.WriteCapacityUnits ?? 0,
});

export const onDemandOf = (input: OnDemandThroughputInput): NonNullable<Table['onDemand']> => ({
  read: input.MaxReadRequestUnits,
  write: input.MaxWriteRequestUnits,
});

export const warmUnitsOf = (input: WarmThroughputInput): NonNullable<Table['warm']> => ({
  ...(input.ReadUnitsPerSecond != null && { read: input.ReadUnitsPerSecond }),
  ...(input.WriteUnitsPerSecond != null && { write: input.WriteUnitsPerSecond }),
});

type EncryptionInput = NonNullable<CreateTableInput['SSESpecification']>;

export const encryptionOf = (input: EncryptionInput): NonNullable<Table['sse']> => ({
  enabled: true,
  type: input.SSEType ?? 'KMS',
  keyArn: input.KMSMasterKeyId,
});

export function defineVectorIndex(
  input: VectorIndexInput,
  definitions: AttributeDefinitionsInput,
  newId: () => number,
): VectorIndex {
  const attributesOf = (type: string) =>
    (input.SearchSchema ?? [])
      .filter(({ SearchSchemaElementType }) => SearchSchemaElementType === type)
      .map(({ AttributeName: name }) => {
        const definition = definitions.find(({ AttributeName }) => AttributeName === name)!;
        return { name, type: definition.AttributeType };
      });
  const [hash] = attributesOf('HASH');
  return {
    id: newId(),
    name: input.IndexName,
    attribute: input.VectorAttribute.AttributeName,
    dimensions: input.Dimensions,
    distance: input.DistanceFunction,
    ...(hash && { hash }),
    filters: attributesOf('INLINE_FILTER'),
    projection: projectionOf(input.Projection),
    status: 'ACTIVE',
  };
}
