import { readUnits, readUsage, type Usage } from '../capacity.ts';
import { validationError } from '../errors.ts';
import { type Projection, projectionOf } from '../expressions/projection.ts';
import { projectedNames } from '../item-writer.ts';
import { after, indexKey, itemKey, type KeyRange } from '../storage/keys.ts';
import { type Index, type Table, vectorsOf } from '../storage/table.ts';
import type { Item } from '../values/attribute-value.ts';
import type { Page } from './page.ts';

// Shared by Query and Scan: the index, the visible attributes, where to continue, and the cost.

type ReadInput = { IndexName?: string; Select?: string; ConsistentRead?: boolean };

export function findIndex(
  table: Table,
  { IndexName: name, ConsistentRead }: ReadInput,
  operation: 'Query' | 'Scan',
): Index | undefined {
  if (name === undefined) return undefined;
  const index = table.indexes.find(candidate => candidate.name === name);
  if (!index && vectorsOf(table).some(candidate => candidate.name === name))
    throw validationError(`${operation} operation not supported on this index type`);
  if (!index) throw validationError(`The table does not have the specified index: ${name}`);
  if (index.status === 'CREATING') {
    throw validationError(`Cannot read from backfilling global secondary index: ${name}`);
  }
  if (ConsistentRead && index.kind === 'global') {
    throw validationError('Consistent reads are not supported on global secondary indexes');
  }
  return index;
}

// `visible` is the part of an item that an index shows; `fetches` if the rest is read from the table.
export type Visibility = { visible?: Projection; fetches: boolean };

// A global index shows only what it projects. A local one fetches the rest from the table if it is requested.
export function visibleThrough(
  table: Table,
  index: Index | undefined,
  input: ReadInput,
  projection: Projection | undefined,
): Visibility {
  const names = index && projectedNames(table, index);
  if (!index || !names) return { fetches: false };
  const wantsAll = input.Select === 'ALL_ATTRIBUTES';
  const hidden = projection?.paths.map(path => String(path[0])).filter(name => !names.has(name)) ?? [];
  if (index.kind === 'local' && (wantsAll || hidden.length > 0)) return { fetches: true };
  if (wantsAll) {
    throw validationError(
      'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global ' +
        `secondary index ${index.name} because its projection type is not ALL`,
    );
  }
  if (hidden.length > 0) {
    throw validationError(
      `One or more parameter values were invalid: Global secondary index ${index.name} does not project ` +
        `[${[...new Set(hidden)].join(', ')}]`,
    );
  }
  return { visible: projectionOf([...names]), fetches: false };
}

export function resumeAfter(
  range: KeyRange,
  table: Table,
  index: Index | undefined,
  start: Item | undefined,
  reverse: boolean,
): KeyRange & { reverse: boolean } {
  if (!start) return { ...range, reverse };
  const base = itemKey(table, start);
  const key = index ? indexKey(index, start, base) : base;
  if (!key || key.compare(range.start) < 0 || key.compare(range.end) >= 0) {
    throw validationError(
      'The provided starting key is outside query boundaries based on provided conditions',
    );
  }
  return reverse ? { start: range.start, end: key, reverse } : { start: after(key), end: range.end, reverse };
}

// Attributes that a local index lacks are fetched from the table, an item at a time.
export function pageUsage(
  index: Index | undefined,
  { ConsistentRead: consistent }: ReadInput,
  { fetches }: Visibility,
  page: Page<unknown>,
): Usage {
  const usage = readUsage(readUnits(page.bytes, consistent), index);
  if (fetches) for (const bytes of page.fetchedBytes) usage.table += readUnits(bytes, consistent);
  return usage;
}
