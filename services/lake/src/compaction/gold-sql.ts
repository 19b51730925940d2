import type { Insight } from '@stak/table';
import { quoteName, readFiles } from '../duckdb/sql-text.ts';
import type { Column } from './columns.ts';
import { type CurrentSources, changeRows, currentRows, flatten, isPresent } from './current-sql.ts';

export const owners = ['_account', '_tenant', '_user'] as const;

const groupNames = ({ groups }: Insight): string[] => Object.keys(groups).map(quoteName);
const sumNames = ({ sums }: Insight): string[] => Object.keys(sums).map(quoteName);

// Sums of rows, each with a weight: one, or minus one for what is no longer so.
function sumRows(insight: Insight, rows: string): string {
  const groups = Object.entries(insight.groups).map(
    ([name, sql]) => `(${sql})::varchar as ${quoteName(name)}`,
  );
  const sums = Object.entries(insight.sums).map(
    ([name, sql]) => `coalesce(sum(_weight * (${sql})), 0)::double as ${quoteName(name)}`,
  );
  return `select ${[...owners, ...groups, ...sums].join(', ')} from (${rows}) where ${insight.where ?? 'true'} group by all`;
}

// Reading an attribute out of an image is what takes time, so only those that an insight may speak of are read.
const usedColumns = ({ groups, sums, where = '' }: Insight, columns: readonly Column[]): Column[] => {
  const text = [...Object.values(groups), ...Object.values(sums), where].join(' ');
  return columns.filter(({ name }) => text.includes(name));
};

// Sums that are there already, and more of the same.
export function addUp(insight: Insight, parts: readonly string[]): string {
  const sums = sumNames(insight).map(name => `sum(${name})::double as ${name}`);
  return `select ${[...owners, ...groupNames(insight), ...sums].join(', ')}
    from (${parts.join(' union all by name ')}) group by all`;
}

export function sumCurrent(insight: Insight, sources: CurrentSources): string {
  const rows = currentRows({ ...sources, columns: usedColumns(insight, sources.columns) });
  return sumRows(insight, `select *, 1 as _weight from (${rows}) where ${isPresent}`);
}

// What a list of changes adds to the sums over what is there: the new image, less the old one.
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

// Sums over changes themselves. Rows found by a backfill are not changes.
export function sumChanges(insight: Insight, paths: readonly string[], columns: readonly Column[]): string {
  const kinds = insight.of === 'kept' ? `_kind = 'expire'` : `_kind <> 'snapshot'`;
  const changes = `select * from (${changeRows(paths)}) where ${kinds}`;
  return sumRows(insight, `select *, 1 as _weight from (${flatten(changes, usedColumns(insight, columns))})`);
}

export const readGold = (path: string): string => `from ${readFiles([path])}`;

// The answer's own rows: nothing that adds up to nothing, and no owners any more unless they are asked for.
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
