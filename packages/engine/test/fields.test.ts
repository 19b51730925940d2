import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as streams from '@aws-sdk/client-dynamodb-streams';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine } from '../src/index.ts';
import { actions } from '../src/operations.ts';
import { inputShapes } from '../src/validation/input-shapes.ts';
import type { Operation } from '../src/validation/operations.ts';
import type { Shape } from '../src/validation/shape.ts';
import { call, hashTable, openEngine } from './engine-fixture.ts';

// The SDK's own model of every operation and every field of its input, beside what the engine declares. The engine
// implements a field, or stores and describes it, or refuses it by name (`refused` in a shape), or refuses the whole
// operation.

// These are refused, whatever they contain.
const refusedOperations: { [O in Operation]?: string } = {
  CreateGlobalTable: 'ValidationException',
  DescribeGlobalTable: 'GlobalTableNotFoundException',
  DescribeGlobalTableSettings: 'GlobalTableNotFoundException',
  DescribeTableReplicaAutoScaling: 'ResourceNotFoundException',
  UpdateGlobalTable: 'ValidationException',
  UpdateGlobalTableSettings: 'GlobalTableNotFoundException',
  UpdateTableReplicaAutoScaling: 'ResourceNotFoundException',
};

// The SDK describes operations and types as arrays. The first member is the kind, the third the name.
type Schema = readonly unknown[];
const kind = { list: 1, map: 2, structure: 3, union: 4, operation: 9 };
const isSchema = (value: unknown): value is Schema => Array.isArray(value) && typeof value[0] === 'number';
// A type may be named by a function, and may come with traits, such as the header of HTTP that carries it.
function resolve(value: unknown): unknown {
  if (typeof value === 'function') return value();
  return isSchema(value) && value.length === 2 ? value[0] : value;
}

const exported: unknown[] = [...Object.values(dynamodb), ...Object.values(streams)];
const operations = exported.filter(
  (value): value is Schema => isSchema(value) && value[0] === kind.operation,
);
const nameOf = (schema: Schema) => schema[2] as Operation;

// The fields of a type that the engine does not declare, and those that it declares and the SDK does not know.
function differences(path: string, schema: unknown, shape: Shape, seen: unknown[] = []): string[] {
  const type = resolve(schema);
  if (!isSchema(type) || seen.includes(type) || shape.kind === 'refused') return [];
  const within = (name: string, member: unknown, of: Shape) =>
    differences(`${path}.${name}`, member, of, [...seen, type]);
  if (type[2] === 'AttributeValue') return shape.kind === 'value' ? [] : [`${path} is no attribute value`];
  if (type[0] === kind.structure && shape.kind === 'structure') {
    const names = type[4] as string[];
    const members = type[5] as unknown[];
    const declared = new Map(shape.entries.map(entry => [entry.name, entry.shape]));
    return [
      ...names.flatMap((name, i) => {
        const of = declared.get(name);
        return of ? within(name, members[i], of) : [`${path}.${name} is dropped`];
      }),
      ...[...declared.keys()].filter(name => !names.includes(name)).map(name => `${path}.${name} is unknown`),
    ];
  }
  if (type[0] === kind.list)
    return shape.kind === 'list' ? within('*', type[4], shape.of) : [`${path} is no list`];
  if (type[0] === kind.map) {
    if (shape.kind === 'attributes') return [];
    return shape.kind === 'map' ? within('*', type[5], shape.of) : [`${path} is no map`];
  }
  return [kind.structure, kind.union].includes(type[0] as number) ? [`${path} is no structure`] : [];
}

test('every operation of the SDK is known, and none beside them', () => {
  expect(operations.length).toBeGreaterThan(60);
  expect(Object.keys(actions).sort()).toEqual([...new Set(operations.map(nameOf))].sort());
});

test('every field of every input is implemented, stored and described, or refused by name', () => {
  const served = operations.filter(operation => !(nameOf(operation) in refusedOperations));
  expect(
    served.flatMap(operation => differences(nameOf(operation), operation[4], inputShapes[nameOf(operation)])),
  ).toEqual([]);
});

const arn = `arn:aws:dynamodb:us-east-1:123456789012:table/notes/backup/01`;
const GlobalTableName = 'notes';
const inputs: Record<string, object> = {
  CreateGlobalTable: { GlobalTableName, ReplicationGroup: [{ RegionName: 'eu-west-1' }] },
  DescribeGlobalTable: { GlobalTableName },
  DescribeGlobalTableSettings: { GlobalTableName },
  DescribeTableReplicaAutoScaling: { TableName: 'notes' },
  UpdateGlobalTable: { GlobalTableName, ReplicaUpdates: [] },
  UpdateGlobalTableSettings: { GlobalTableName },
  UpdateTableReplicaAutoScaling: { TableName: 'notes' },
};

test.each(Object.entries(refusedOperations))('%s is refused with a %s', async (operation, name) => {
  const engine = await createEngine({ path: ':memory:' });
  onTestFinished(() => engine.close());
  await call(engine, 'CreateTable', hashTable('notes'));
  await expect(call(engine, operation as Operation, inputs[operation]!)).rejects.toMatchObject({ name });
});

const refusedFields: [string, Operation, object][] = [
  ['GlobalTableSourceArn', 'CreateTable', { GlobalTableSourceArn: arn }],
  ['GlobalTableSettingsReplicationMode', 'CreateTable', { GlobalTableSettingsReplicationMode: 'ENABLED' }],
  ['ReplicaUpdates', 'UpdateTable', { ReplicaUpdates: [{ Create: { RegionName: 'eu-west-1' } }] }],
  ['MultiRegionConsistency', 'UpdateTable', { MultiRegionConsistency: 'STRONG' }],
  ['GlobalTableWitnessUpdates', 'UpdateTable', { GlobalTableWitnessUpdates: [{}] }],
];

test.each([
  ['IncrementalExportSpecification', { ExportTime: 1 }],
  ['FilterSpecification', { FilterExpression: 'a = :a' }],
])('%s of an export is refused by name', async (field, value) => {
  const engine = await openEngine();
  onTestFinished(() => engine.close());
  await expect(
    call(engine, 'ExportTableToPointInTime', { TableArn: arn, S3Bucket: 'bucket', [field]: value }),
  ).rejects.toThrow(`One or more parameter values were invalid: ${field} is not supported: `);
});

test.each(refusedFields)('%s of %s is refused by name', async (field, operation, more) => {
  const engine = await openEngine();
  onTestFinished(() => engine.close());
  if (operation === 'UpdateTable') await call(engine, 'CreateTable', hashTable('notes'));
  const input = operation === 'CreateTable' ? hashTable('notes', more) : { TableName: 'notes', ...more };
  await expect(call(engine, operation, input)).rejects.toMatchObject({
    name: 'ValidationException',
    message: expect.stringMatching(`^One or more parameter values were invalid: ${field} is not supported: `),
  });
});

test('throughput that a table and its indexes are warmed for is stored and described, and only raised', async () => {
  const engine = await openEngine();
  onTestFinished(() => engine.close());
  const index = {
    IndexName: 'byColor',
    KeySchema: [{ AttributeName: 'color', KeyType: 'HASH' }],
    Projection: { ProjectionType: 'ALL' },
    OnDemandThroughput: { MaxReadRequestUnits: 7, MaxWriteRequestUnits: 8 },
    WarmThroughput: { WriteUnitsPerSecond: 5000 },
  };
  const table = hashTable('notes', {
    WarmThroughput: { ReadUnitsPerSecond: 13_000 },
    GlobalSecondaryIndexes: [index],
  });
  await call(engine, 'CreateTable', {
    ...table,
    AttributeDefinitions: [...['pk', 'color'].map(AttributeName => ({ AttributeName, AttributeType: 'S' }))],
  });
  const described = async () =>
    ((await call(engine, 'DescribeTable', { TableName: 'notes' })) as { Table: Record<string, unknown> })
      .Table;
  expect(await described()).toMatchObject({
    WarmThroughput: { ReadUnitsPerSecond: 13_000, WriteUnitsPerSecond: 4000, Status: 'ACTIVE' },
    GlobalSecondaryIndexes: [
      {
        OnDemandThroughput: { MaxReadRequestUnits: 7, MaxWriteRequestUnits: 8 },
        WarmThroughput: { ReadUnitsPerSecond: 12_000, WriteUnitsPerSecond: 5000, Status: 'ACTIVE' },
      },
    ],
  });
  const update = (more: object) => call(engine, 'UpdateTable', { TableName: 'notes', ...more });
  await update({ WarmThroughput: { WriteUnitsPerSecond: 6000 } });
  await update({
    GlobalSecondaryIndexUpdates: [
      { Update: { IndexName: 'byColor', WarmThroughput: { ReadUnitsPerSecond: 14_000 } } },
    ],
  });
  expect(await described()).toMatchObject({
    WarmThroughput: { ReadUnitsPerSecond: 13_000, WriteUnitsPerSecond: 6000 },
    GlobalSecondaryIndexes: [{ WarmThroughput: { ReadUnitsPerSecond: 14_000, WriteUnitsPerSecond: 5000 } }],
  });
  await expect(update({ WarmThroughput: { ReadUnitsPerSecond: 12_500 } })).rejects.toThrow(
    'Requested ReadUnitsPerSecond for WarmThroughput for table is lower than current WarmThroughput',
  );
  await expect(update({ WarmThroughput: {} })).rejects.toThrow(
    'must have at least one of ReadUnitsPerSecond or',
  );
  await expect(
    call(engine, 'CreateTable', hashTable('other', { WarmThroughput: { ReadUnitsPerSecond: 1 } })),
  ).rejects.toThrow('is lower than initial throughput for OnDemand');
});
