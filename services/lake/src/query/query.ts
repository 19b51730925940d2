import type { Duck, DuckAnswer, DuckJob } from '../duckdb/duck.ts';
import { quoteName } from '../duckdb/sql-text.ts';
import { lakeErrors } from '../errors.ts';
import { columnsFor, type LakeTable, locateCurrent, whileFilesLast } from '../lake-table.ts';
import type { Column } from '../layers/columns.ts';
import { currentRows, isPresent } from '../layers/current-sql.ts';
import { type Scope, scopeCondition } from '../scope.ts';
import type { FollowedEntity } from '../tables.ts';
import { beginsReading } from './sql-gate.ts';

export type View = {
  name: string;
  lakeTable: LakeTable;
  entity: string;
  scope: FollowedEntity['scope'];
  isText: boolean;
  idAttribute: string | undefined;
  cause: FollowedEntity['cause'];
};

const causeColumns: readonly Column[] = ['cause_kind', 'cause_id', 'root_kind', 'root_id'].map(name => ({
  name,
  type: 'VARCHAR',
}));

/** The columns of a view: those of its entity, and what caused each row. */
export const columnsOfView = ({ lakeTable, entity, cause }: View): Column[] => [
  ...columnsFor(lakeTable, entity),
  ...(cause ? causeColumns : []),
];

export function listViews(lakeTables: readonly LakeTable[]): View[] {
  return lakeTables.flatMap(lakeTable =>
    [...lakeTable.plan.entities.values()].flatMap(({ entity, view, scope, text, idAttribute, cause }) =>
      view === undefined
        ? []
        : [
            {
              ...{ name: view, lakeTable, entity: entity.name, scope, idAttribute, cause },
              isText: text !== undefined,
            },
          ],
    ),
  );
}

// Runs a caller's SQL over tables that hold the caller's rows only. They are created in memory for this query.
export async function runQuery(
  { duck, views }: { duck: Duck; views: readonly View[] },
  scope: Scope,
  { sql, ...job }: Omit<DuckJob, 'prepare' | 'isUntrusted'> & { sql: string },
): Promise<DuckAnswer> {
  if (!beginsReading(sql))
    throw lakeErrors.create('lake.sql_forbidden', 'A query begins with SELECT, WITH, FROM or VALUES.');
  return whileFilesLast(async () => {
    const prepare: string[] = [];
    for (const view of views)
      prepare.push(await createView(view, isMentioned(view, sql) ? scopeCondition(scope) : undefined));
    return duck.run({ prepare, sql, isUntrusted: true, ...job });
  });
}

// A table that the SQL does not mention exists but stays empty, so that its rows are not loaded.
export const isMentioned = ({ name }: View, sql: string): boolean =>
  sql.toLowerCase().includes(name.toLowerCase());

async function createView(
  { name, lakeTable, entity, cause }: View,
  scope: string | undefined,
): Promise<string> {
  const columns = columnsFor(lakeTable, entity);
  const sources =
    scope === undefined
      ? { columns, silver: undefined, recent: [], generation: 0 }
      : await locateCurrent(lakeTable, await lakeTable.manifest.read(), entity);
  const names = columns.map(column => quoteName(column.name)).join(', ');
  return `create table ${quoteName(name)} as select ${names}${cause ? causeSql(cause) : ''}
    from (${currentRows(sources, scope)}) where ${isPresent}`;
}

const causeSql = ({ kind, id, isRoot }: NonNullable<FollowedEntity['cause']>): string =>
  `, ${kind} as cause_kind, ${id} as cause_id,
    case when ${isRoot} then ${kind} end as root_kind, case when ${isRoot} then ${id} end as root_id`;
