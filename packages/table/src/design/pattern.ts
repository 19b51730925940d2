import type { AnyQuery } from '../store/query.ts';
import type { IndexKeys } from './entity.ts';
import type { AnyTable } from './table.ts';

/** The condition on one key attribute. */
export type KeyCondition = {
  readonly attribute: string;
  readonly is: '=' | 'begins like';
  readonly text: string;
};

/** One way to read or write items of a table, as its design declares it. Costs are counted under its name. */
export type AccessPattern = {
  readonly name: string;
  readonly kind: 'query' | 'item';
  readonly index?: string;
  readonly conditions: readonly KeyCondition[];
  readonly notes: readonly string[];
};

/** The queries of a table, and the operations on single items. */
export const patternsOf = (table: AnyTable): AccessPattern[] => [
  ...table.queries.map(queryPattern),
  ...table.entities.flatMap(entity =>
    ['get', 'put', 'delete'].map(operation => ({
      name: `${operation} ${entity.name}`,
      kind: 'item' as const,
      conditions: keyConditions(entity.key),
      notes: [],
    })),
  ),
];

function queryPattern(query: AnyQuery): AccessPattern {
  const { name, index, partition, sort, partitionTemplate, sortTemplate, newestFirst, filter } = query;
  const conditions: KeyCondition[] = [{ attribute: partition, is: '=', text: partitionTemplate.text }];
  if (sort !== undefined && sortTemplate) {
    const text = sortTemplate.isWhole ? sortTemplate.text : sortTemplate.literals[0]!;
    if (text !== '') conditions.push({ attribute: sort, is: 'begins like', text });
  }
  const notes = [newestFirst && 'newest first', filter && 'filtered'].filter(
    note => typeof note === 'string',
  );
  return { name, kind: 'query', ...(index !== undefined && { index }), conditions, notes };
}

function keyConditions({ partition, sort, templates }: IndexKeys): KeyCondition[] {
  const conditions: KeyCondition[] = [{ attribute: partition, is: '=', text: templates.partition.text }];
  if (sort !== undefined) conditions.push({ attribute: sort, is: '=', text: templates.sort!.text });
  return conditions;
}
