import { currentRows, isPresent } from '../compaction/current-sql.ts';
import type { Duck, DuckAnswer } from '../duckdb/duck.ts';
import { quoteName } from '../duckdb/sql-text.ts';
import { lakeErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { columnsFor, locateCurrent, type Part, whileFilesLast } from '../storage/lake-table.ts';
import type { FollowedEntity } from '../tables.ts';
import { type Scope, scopeCondition } from './scope.ts';
import { beginsReading } from './sql-gate.ts';

export type View = { name: string; part: Part; entity: string; scope: FollowedEntity['scope'] };

export function listViews(parts: readonly Part[]): View[] {
  return parts.flatMap(part =>
    [...part.plan.entities.values()].flatMap(({ entity, view, scope }) =>
      view === undefined ? [] : [{ name: view, part, entity: entity.name, scope }],
    ),
  );
}

// A caller's SQL, over tables that hold his rows and nobody else's: they are made for this query, in memory.
export async function runQuery(
  { duck, views }: { duck: Duck; views: readonly View[] },
  scope: Scope,
  sql: string,
): Promise<DuckAnswer> {
  if (!beginsReading(sql))
    throw lakeErrors.create('lake.sql_forbidden', 'A query begins with SELECT, WITH, FROM or VALUES.');
  return whileFilesLast(async () => {
    const prepare: string[] = [];
    for (const view of views)
      prepare.push(await createView(view, isMentioned(view, sql) ? scopeCondition(scope) : undefined));
    return duck.run({ prepare, sql, guest: true, maxRows: limits.resultRows, maxBytes: limits.resultBytes });
  });
}

// A table whose name does not stand in the text is there, and empty: what nobody asks about is not loaded.
export const isMentioned = ({ name }: View, sql: string): boolean =>
  sql.toLowerCase().includes(name.toLowerCase());

async function createView({ name, part, entity }: View, scope: string | undefined): Promise<string> {
  const columns = columnsFor(part, entity);
  const sources =
    scope === undefined
      ? { columns, silver: undefined, recent: [], generation: 0 }
      : await locateCurrent(part, await part.manifest.read(), entity);
  const names = columns.map(column => quoteName(column.name)).join(', ');
  return `create table ${quoteName(name)} as select ${names}
    from (${currentRows(sources, scope)}) where ${isPresent}`;
}
