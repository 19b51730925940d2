import type { Insight } from '@stak/table';
import { quoteName, readFiles } from '../duckdb/sql-text.ts';
import type { Column } from './columns.ts';
import { type CurrentSources, changeRows, currentRows, flatten, isPresent } from './current-sql.ts';

export const owners = ['_account', '_tenant', '_user'] as const;

const groupNames = ({ groups }: Insight): string[] => Object.keys(groups).map(quoteName);
const sumNames = ({ sums }: Insight): string[] => Object.keys(sums).map(quoteName);

// Sums of rows, each with a weight: one, or minus one for an old image.
function sumRows(insight: Insight, rows: string): string {
  const groups = Object.entries(insight.groups).map(
    ([name, sql]) => `(${sql})::varchar as ${quoteName(name)}`,
  );
  const sums = Object.entries(insight.sums).map(
    ([name, sql]) => `coalesce(sum(_weight * (${sql})), 0)::double as ${quoteName(name)}`,
  );
  return `select ${[...owners, ...groups, ...sums].join(', ')} from (${rows}) where ${insight.where ?? 'true'} group by all`;
}

// Extracting an attribute from an image is slow, so only attributes that an insight may use are extracted.
const usedColumns = ({ groups, sums, where = '' }: Insight, columns: readonly Column[]): Column[] => {
  const text = [...Object.values(groups), ...Object.values(sums), where].join(' ');
  return columns.filter(({ name }) => text.includes(name));
};

// Adds to existing sums.
export function addUp(insight: Insight, parts: readonly string[]): string {
  const sums = sumNames(insight).map(name => `sum(${name})::double as ${name}`);
  return `select ${[...owners, ...groupNames(insight), ...sums].join(', ')}
    from (${parts.join(' union all by name ')}) group by all`;
}

export function sumCurrent(insight: Insight, sources: CurrentSources): string {
  const rows = currentRows({ ...sources, columns: usedColumns(insight, sources.columns) });
  return sumRows(insight, `select *, 1 as _weight from (${rows}) where ${isPresent}`);
}

// Sums what a list of changes adds to the sums of existing items: the new image, minus the old one.
export function sumDifferences(
  insight: Insight,
  paths: readonly string[],
  columns: readonly Column[],
): string {
  const image = (name: string) => `
    select key as _key, kind as _kind, generation as _generation, sequence as _sequence, "at" as _at,
      account_id as _account, tenant_id as _tenant, user_id as _user, "${name}" as _image
    from ${readFiles(paths)} where "${name}" is not null`;
  const used = usedColumns(insight, columns);
  return sumRows(
    insight,
    `select *, 1 as _weight from (${flatten(image('new'), used)})
     union all by name select *, -1 as _weight from (${flatten(image('old'), used)})`,
  );
}

// Sums over the changes themselves. Rows found by a backfill are not changes.
export function sumChanges(insight: Insight, paths: readonly string[], columns: readonly Column[]): string {
  const kinds = insight.of === 'kept' ? `_kind = 'expire'` : `_kind <> 'snapshot'`;
  const changes = `select * from (${changeRows(paths)}) where ${kinds}`;
  return sumRows(insight, `select *, 1 as _weight from (${flatten(changes, usedColumns(insight, columns))})`);
}

export const readGold = (path: string): string => `from ${readFiles([path])}`;

// The rows of the result: without groups whose sums are all zero, and without owners unless requested.
export function finish(
  insight: Insight,
  parts: readonly string[],
  scope: string,
  since: string | undefined,
  by: readonly string[] = [],
): string {
  const sums = sumNames(insight).map(name => `sum(${name}) as ${name}`);
  const groups = [...by, ...groupNames(insight)];
  const isRecent =
    insight.day !== undefined && since !== undefined ? `${quoteName(insight.day)} >= '${since}'` : 'true';
  const isSomething = sumNames(insight).map(name => `sum(${name}) <> 0`);
  return `select ${[...groups, ...sums].join(', ')} from (${parts.join(' union all by name ')})
    where (${scope}) and ${isRecent}
    group by all having ${isSomething.join(' or ')} order by all`;
}
