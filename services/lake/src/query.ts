import { currentRows, isPresent } from './current-sql.ts';
import type { Duck, DuckAnswer } from './duck.ts';
import { lakeErrors } from './errors.ts';
import * as limits from './limits.ts';
import { columnsFor, locateCurrent, type Part, whileFilesLast } from './parts.ts';
import { type Scope, scopeCondition } from './scope.ts';
import { quoteName } from './sql-text.ts';
import type { FollowedEntity } from './tables.ts';

export type View = { name: string; part: Part; entity: string; scope: FollowedEntity['scope'] };

export function listViews(parts: readonly Part[]): View[] {
  return parts.flatMap(part =>
    [...part.plan.entities.values()].flatMap(({ entity, view, scope }) =>
      view === undefined ? [] : [{ name: view, part, entity: entity.name, scope }],
    ),
  );
}

// Comments and strings may say anything; what a statement is, is said by its first word. Everything else is decided
// by DuckDB, which has neither files nor settings to give by then.
const readingWords =
  /^(?:\s|--[^\n]*\n|\/\*[\s\S]*?\*\/)*(?:\(|(?:select|with|from|values|describe|summarize|show|pivot|unpivot)\b)/i;

// A caller's SQL, over tables that hold his rows and nobody else's: they are made for this query, in memory.
export async function runQuery(
  { duck, views }: { duck: Duck; views: readonly View[] },
  scope: Scope,
  sql: string,
): Promise<DuckAnswer> {
  if (!readingWords.test(sql))
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
