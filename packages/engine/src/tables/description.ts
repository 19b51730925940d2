import type { Context } from '../context.ts';
import { readSize } from '../storage/committer.ts';
import {
  attributesOfKey,
  hashAttributes,
  type Index,
  type KeyAttribute,
  type KeySchema,
  type RestoredFrom,
  rangeAttributes,
  type StreamViewType,
  searchAttributes,
  type Table,
  type Throughput,
  vectorsOf,
} from '../storage/table.ts';
import { warmOf } from '../validation/warm-throughput.ts';
import { indexArn, streamArn, tableArn } from './arns.ts';
import { describeVectorIndex } from './vector-indexes.ts';

// A table as DynamoDB describes it. Times are seconds since the epoch, as on the wire.

export type TableStatus = 'CREATING' | 'UPDATING' | 'DELETING' | 'ACTIVE';
export type TableDescription = ReturnType<typeof describe>;

const dayMs = 24 * 60 * 60_000;

export function describe(
  context: Context,
  table: Table,
  status: TableStatus = table.isCreating ? 'CREATING' : 'ACTIVE',
) {
  const { items, bytes } = readSize(context.store, table.id);
  const locals = table.indexes.filter(index => index.kind === 'local');
  // DynamoDB omits them from the response of DeleteTable.
  const globals = status === 'DELETING' ? [] : table.indexes.filter(index => index.kind === 'global');
  const vectors = status === 'DELETING' ? [] : vectorsOf(table);
  return {
    AttributeDefinitions: attributeDefinitions(table),
    TableName: table.name,
    KeySchema: keyElements(table.keys),
    TableStatus: status,
    CreationDateTime: table.createdAt / 1000,
    ProvisionedThroughput: describeThroughput(table.throughput, context.now()),
    TableSizeBytes: bytes,
    ItemCount: items,
    TableArn: tableArn(context, table.name),
    TableId: table.uuid,
    ...describeBilling(table, status),
    ...(locals.length > 0 && {
      LocalSecondaryIndexes: locals.map(index => describeIndex(context, table, index)),
    }),
    ...(globals.length > 0 && {
      GlobalSecondaryIndexes: globals.map(index => describeGlobalIndex(context, table, index, status)),
    }),
    ...(vectors.length > 0 && {
      VectorIndexes: vectors.map(index => describeVectorIndex(context, table, index, status === 'CREATING')),
    }),
    ...describeStreams(context, table),
    ...(table.sse && {
      SSEDescription: {
        Status: 'ENABLED',
        SSEType: table.sse.type,
        ...(table.sse.keyArn && { KMSMasterKeyArn: table.sse.keyArn }),
      },
    }),
    ...(table.tableClass && { TableClassSummary: { TableClass: table.tableClass } }),
    DeletionProtectionEnabled: table.deletionProtection,
    ...(table.disassociationProtection !== undefined && {
      DisassociationProtectionEnabled: table.disassociationProtection,
    }),
    ...(table.warm && { WarmThroughput: describeWarm(table, table) }),
    ...(table.restoredFrom && { RestoreSummary: describeRestore(table, table.restoredFrom) }),
  };
}

const describeRestore = ({ isCreating }: Table, { backupArn, tableArn: source, at }: RestoredFrom) => ({
  ...(backupArn !== undefined && { SourceBackupArn: backupArn }),
  SourceTableArn: source,
  RestoreDateTime: at / 1000,
  RestoreInProgress: isCreating === true,
});

function attributeDefinitions(table: Table) {
  const types = new Map<string, KeyAttribute['type']>();
  for (const { keys } of [table, ...table.indexes]) {
    for (const { name, type } of attributesOfKey(keys)) types.set(name, type);
  }
  for (const index of vectorsOf(table))
    for (const { name, type } of searchAttributes(index)) types.set(name, type);
  return [...types].map(([name, type]) => ({ AttributeName: name, AttributeType: type }));
}

export const keyElements = (keys: KeySchema) => [
  ...hashAttributes(keys).map(({ name }) => ({ AttributeName: name, KeyType: 'HASH' })),
  ...rangeAttributes(keys).map(({ name }) => ({ AttributeName: name, KeyType: 'RANGE' })),
];

function describeThroughput({ read, write, increasedAt, decreasedAt, decreases }: Throughput, now: number) {
  const today = decreasedAt !== undefined && Math.floor(decreasedAt / dayMs) === Math.floor(now / dayMs);
  return {
    ...(increasedAt !== undefined && { LastIncreaseDateTime: increasedAt / 1000 }),
    ...(decreasedAt !== undefined && { LastDecreaseDateTime: decreasedAt / 1000 }),
    NumberOfDecreasesToday: today ? (decreases ?? 0) : 0,
    ReadCapacityUnits: read,
    WriteCapacityUnits: write,
  };
}

type BillingDescription = {
  BillingModeSummary?: { BillingMode: Table['billing']; LastUpdateToPayPerRequestDateTime?: number };
  OnDemandThroughput?: { MaxReadRequestUnits?: number; MaxWriteRequestUnits?: number };
};

// A table that has always been provisioned carries no summary.
function describeBilling(
  { billing, onDemandSince, onDemand }: Table,
  status: TableStatus,
): BillingDescription {
  if (onDemandSince === undefined) return {};
  return {
    BillingModeSummary: {
      BillingMode: billing,
      ...(status !== 'CREATING' && { LastUpdateToPayPerRequestDateTime: onDemandSince / 1000 }),
    },
    ...(onDemand && {
      OnDemandThroughput: describeOnDemand(onDemand),
    }),
  };
}

const describeOnDemand = ({ read, write }: NonNullable<Table['onDemand']>) => ({
  MaxReadRequestUnits: read,
  MaxWriteRequestUnits: write,
});

// It takes effect at once.
function describeWarm(table: Table, owner: Table | Index) {
  const { read, write } = warmOf(table, owner);
  return { ReadUnitsPerSecond: read, WriteUnitsPerSecond: write, Status: 'ACTIVE' };
}

function describeIndex(context: Context, table: Table, index: Index) {
  const { items, bytes } = readSize(context.store, index.id);
  const { projection } = index;
  return {
    IndexName: index.name,
    KeySchema: keyElements(index.keys),
    Projection: {
      ProjectionType: projection.type,
      ...(projection.type === 'INCLUDE' && { NonKeyAttributes: projection.attributes }),
    },
    IndexSizeBytes: bytes,
    ItemCount: items,
    IndexArn: indexArn(context, table.name, index.name),
  };
}

function describeGlobalIndex(context: Context, table: Table, index: Index, status: TableStatus) {
  return {
    ...describeIndex(context, table, index),
    IndexStatus: status === 'CREATING' ? status : index.status,
    ...(index.status === 'CREATING' && { Backfilling: true }),
    ProvisionedThroughput: describeThroughput(index.throughput ?? { read: 0, write: 0 }, context.now()),
    ...(index.onDemand && { OnDemandThroughput: describeOnDemand(index.onDemand) }),
    ...(index.warm && { WarmThroughput: describeWarm(table, index) }),
  };
}

type StreamsDescription = {
  StreamSpecification?: { StreamEnabled: true; StreamViewType: StreamViewType };
  LatestStreamLabel?: string;
  LatestStreamArn?: string;
};

// The label of a disabled stream stays; the specification shows whether a stream is enabled now.
function describeStreams(context: Context, table: Table): StreamsDescription {
  const stream = table.streams.at(-1);
  if (!stream) return {};
  return {
    ...(stream.enabled && {
      StreamSpecification: { StreamEnabled: true as const, StreamViewType: stream.viewType },
    }),
    LatestStreamLabel: stream.label,
    LatestStreamArn: streamArn(context, table.name, stream.label),
  };
}
