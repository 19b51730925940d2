import { type Usage, writeUsage } from './capacity.ts';
import type { Context } from './context.ts';
import type { Image } from './item-writer.ts';
import type { Index, KeySchema, Table } from './storage/table.ts';
import type { AttributeValue, Item } from './values/attribute-value.ts';

/**
 * Units that one call consumes of one partition. DynamoDB throttles by partition, so a design is as fast as its hottest
 * one. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
 */
export type PartitionUsage = {
  table: string;
  index?: string;
  partition: string; // the value of the partition key
  kind: 'read' | 'write';
  units: number;
};

type Write = { table: Table; target: Item };

export function reportWrite(
  { onUsage }: Context,
  { table, target }: Write,
  { before, after }: { before?: Image; after?: Image },
  factor: number,
): void {
  const usage = writeUsage(table, before, after);
  const of = { table: table.name, kind: 'write' } as const;
  onUsage?.({ ...of, partition: partitionOf(table.keys, target), units: usage.table * factor });
  for (const [index, units] of usage.indexes) {
    const { item } = (isIn(index, after) ? after : before)!;
    onUsage?.({ ...of, index: index.name, partition: partitionOf(index.keys, item), units });
  }
}

export function reportRead({ onUsage }: Context, table: Table, key: Item, units: number): void {
  onUsage?.({ table: table.name, partition: partitionOf(table.keys, key), kind: 'read', units });
}

export function reportPage(
  { onUsage }: Context,
  table: Table,
  hash: readonly AttributeValue[],
  usage: Usage,
): void {
  const of = { table: table.name, partition: hash.map(textOf).join(' '), kind: 'read' } as const;
  if (usage.table > 0) onUsage?.({ ...of, units: usage.table });
  for (const [{ name }, units] of usage.indexes) onUsage?.({ ...of, index: name, units });
}

const isIn = (index: Index, image: Image | undefined): image is Image =>
  image?.item[index.keys.hash.name] !== undefined;

const partitionOf = ({ hash, more }: KeySchema, item: Item): string =>
  [hash, ...(more?.hash ?? [])].map(({ name }) => textOf(item[name])).join(' ');

const textOf = (value: AttributeValue | undefined): string => (value ? String(Object.values(value)[0]) : '');
