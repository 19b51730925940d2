import { expect } from 'vitest';
import type { Engine } from '../../src/engine.ts';
import type { AttributeValue } from '../../src/values/attribute-value.ts';
import { tableName } from './requests.ts';
import { groups, kinds, labels, partitions } from './steps.ts';
import {
  compareKeys,
  type IndexModel,
  type LogEntry,
  type Model,
  type ModelItem,
  textOf,
} from './table-model.ts';

// Everything a caller can see of the table, held against the model.

type Page = { Items: ModelItem[]; LastEvaluatedKey?: ModelItem };
type Request = Record<string, unknown>;

const texts = (items: ModelItem[]): string[] => items.map(textOf);
const sorted = (items: ModelItem[]): string[] => texts(items).sort();

async function readAll(engine: Engine, operation: 'Query' | 'Scan', request: Request): Promise<ModelItem[]> {
  const items: ModelItem[] = [];
  let start: ModelItem | undefined;
  do {
    const input = { TableName: tableName, ...request, ...(start && { ExclusiveStartKey: start }) };
    const page = (await engine.execute(operation, input)) as Page;
    items.push(...page.Items);
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
}

function partitionQuery(values: ModelItem): Request {
  const names = Object.keys(values);
  return {
    KeyConditionExpression: names.map((_, i) => `#h${i} = :h${i}`).join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#h${i}`, name])),
    ExpressionAttributeValues: Object.fromEntries(names.map((name, i) => [`:h${i}`, values[name]])),
  };
}

export async function compareItems(engine: Engine, model: Model): Promise<void> {
  const all = model.all();
  expect(sorted(await readAll(engine, 'Scan', {}))).toEqual(sorted(all));
  const segments = await Promise.all(
    [0, 1, 2].map(Segment => readAll(engine, 'Scan', { Segment, TotalSegments: 3, Limit: 2 })),
  );
  expect(sorted(segments.flat())).toEqual(sorted(all));
  for (const value of partitions) {
    const expected = texts(model.partition({ pk: value }, ['sk']).sort(compareKeys));
    const query = partitionQuery({ pk: value });
    expect(texts(await readAll(engine, 'Query', query))).toEqual(expected);
    const backwards = await readAll(engine, 'Query', { ...query, ScanIndexForward: false, Limit: 2 });
    expect(texts(backwards)).toEqual(expected.toReversed());
  }
}

const valuesOf: Record<string, AttributeValue[]> = { pk: partitions, group: groups, kind: kinds };

export async function compareIndexes(engine: Engine, model: Model): Promise<void> {
  for (const index of model.indexes) {
    const expected = model.inIndex(index).map(item => model.projected(index, item));
    expect(sorted(await readAll(engine, 'Scan', { IndexName: index.name }))).toEqual(sorted(expected));
    for (const values of partitionsOf(index)) await comparePartition(engine, model, index, values);
  }
}

// The nth values of all hash attributes; and the first range attribute asked for by its value too, where there are
// several.
const partitionsOf = ({ hash, range }: IndexModel): ModelItem[] =>
  [0, 1, 2].flatMap(n => {
    const partition = Object.fromEntries(hash.map(name => [name, valuesOf[name]![n]!]));
    return range.length < 2 ? [partition] : [partition, { ...partition, [range[0]!]: labels[n]! }];
  });

async function comparePartition(engine: Engine, model: Model, index: IndexModel, values: ModelItem) {
  const query = { ...partitionQuery(values), IndexName: index.name };
  const expected = model.partition(values, index.range).map(item => model.projected(index, item));
  const forward = await readAll(engine, 'Query', query);
  expect(sorted(forward)).toEqual(sorted(expected));
  // Items of equal range keys come in any order, but always in the same one.
  const ranges = (items: ModelItem[]) => items.map(item => index.range.map(name => item[name]));
  expect(ranges(forward)).toEqual(ranges(expected));
  const backwards = await readAll(engine, 'Query', { ...query, ScanIndexForward: false, Limit: 2 });
  expect(texts(backwards)).toEqual(texts(forward).toReversed());
}

type Description = {
  Table: {
    ItemCount: number;
    TableSizeBytes: number;
    GlobalSecondaryIndexes: IndexDescription[];
    LocalSecondaryIndexes: IndexDescription[];
  };
};
type IndexDescription = { IndexName: string; ItemCount: number; IndexSizeBytes: number };

export async function compareCounts(engine: Engine, model: Model): Promise<void> {
  const { Table } = (await engine.execute('DescribeTable', { TableName: tableName })) as Description;
  expect([Table.ItemCount, Table.TableSizeBytes]).toEqual([model.all().length, model.bytes()]);
  for (const described of [...Table.GlobalSecondaryIndexes, ...Table.LocalSecondaryIndexes]) {
    const index = model.indexes.find(({ name }) => name === described.IndexName)!;
    expect([index.name, described.ItemCount, described.IndexSizeBytes]).toEqual([
      index.name,
      model.inIndex(index).length,
      model.indexBytes(index),
    ]);
  }
  const report = engine.check();
  expect(report.problems).toEqual([]);
  expect(report.items).toBe(model.all().length);
  expect(report.logRecords).toBe(model.log().length);
}

type StreamRecord = {
  eventName: string;
  userIdentity?: object;
  dynamodb: {
    ApproximateCreationDateTime: number;
    Keys: ModelItem;
    OldImage?: ModelItem;
    NewImage?: ModelItem;
    SequenceNumber: string;
  };
};

export async function compareLog(
  engine: Engine,
  model: Model,
  streamArn: string,
  shardId: string,
): Promise<void> {
  const { ShardIterator } = (await engine.execute('GetShardIterator', {
    StreamArn: streamArn,
    ShardId: shardId,
    ShardIteratorType: 'TRIM_HORIZON',
  })) as { ShardIterator: string };
  const records: StreamRecord[] = [];
  let next = ShardIterator;
  while (true) {
    const input = { ShardIterator: next, Limit: 7 };
    const page = (await engine.execute('GetRecords', input)) as {
      Records: StreamRecord[];
      NextShardIterator: string;
    };
    if (page.Records.length === 0) break;
    records.push(...page.Records);
    next = page.NextShardIterator;
  }
  expect(records.map(recordText)).toEqual(model.log().map(entryText));
  const sequences = records.map(record => BigInt(record.dynamodb.SequenceNumber));
  expect(sequences.every((sequence, i) => i === 0 || sequence > sequences[i - 1]!)).toBe(true);
}

const service = { Type: 'Service', PrincipalId: 'dynamodb.amazonaws.com' };

const recordText = ({ eventName, dynamodb, userIdentity }: StreamRecord): string =>
  [
    eventName,
    dynamodb.ApproximateCreationDateTime,
    textOf(dynamodb.Keys),
    dynamodb.OldImage && textOf(dynamodb.OldImage),
    dynamodb.NewImage && textOf(dynamodb.NewImage),
    userIdentity && textOf(userIdentity as ModelItem),
  ].join(' | ');

const entryText = (entry: LogEntry): string =>
  [
    entry.eventName,
    Math.floor(entry.at / 1000),
    textOf(entry.keys),
    entry.old && textOf(entry.old),
    entry.new && textOf(entry.new),
    entry.byService ? textOf(service as unknown as ModelItem) : undefined,
  ].join(' | ');
