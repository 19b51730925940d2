import type { Duck } from '../duckdb/duck.ts';
import { quoteText, readFiles } from '../duckdb/sql-text.ts';
import { type LakeTable, locateAll, whileFilesLast } from '../lake-table.ts';
import * as limits from '../limits.ts';
import { type Scope, scopeCondition } from '../scope.ts';
import { type BronzeFile, dayOf } from '../storage/bronze-file.ts';

type Change = { field: string; before: unknown; after: unknown };
export type HistoryEntry = { at: string; kind: 'insert' | 'modify' | 'remove'; changes: Change[] };
type ItemName = { entity: string; idAttribute: string; id: string };

// The changes of one item, newest first, of as many days as can be read at once.
export async function readHistory(
  duck: Duck,
  lakeTable: LakeTable,
  scope: Scope,
  { entity, idAttribute, id }: ItemName,
): Promise<{ since: string; data: HistoryEntry[] }> {
  return whileFilesLast(async () => {
    const state = await lakeTable.manifest.read();
    const { firstDay, paths } = newestDays([...state.files.values()].filter(file => file.entity === entity));
    const since = `${firstDay ?? dayOf(lakeTable.clock.now())}T00:00:00.000Z`;
    if (paths.length === 0) return { since, data: [] };
    const files = await locateAll(lakeTable.objects, paths);
    // The same change may have been written twice, with the same event id.
    const sql = `select kind, epoch_ms("at") as at, "old", "new" from (
        select *, account_id as _account, tenant_id as _tenant, user_id as _user from ${readFiles(files)}
        where kind <> 'snapshot'
      ) where (${scopeCondition(scope)})
        and json_extract_string(coalesce("new", "old"), ${quoteText(`$.${idAttribute}`)}) = ${quoteText(id)}
      qualify row_number() over (partition by event_id) = 1
      order by generation desc, length(sequence) desc, sequence desc`;
    const { rows } = await duck.run({ prepare: [], sql, maxRows: limits.historyRows });
    return { since, data: rows.map(entryOf) };
  });
}

// The newest day always, and earlier ones while they fit.
function newestDays(files: readonly BronzeFile[]): { firstDay: string | undefined; paths: string[] } {
  const paths: string[] = [];
  let firstDay: string | undefined;
  let bytes = 0;
  for (const day of [...new Set(files.map(file => file.day))].sort().reverse()) {
    const ofDay = files.filter(file => file.day === day);
    bytes += ofDay.reduce((sum, file) => sum + file.bytes, 0);
    if (firstDay !== undefined && bytes > limits.historyBytes) break;
    firstDay = day;
    paths.push(...ofDay.map(({ path }) => path));
  }
  return { firstDay, paths };
}

const entryOf = ([kind, at, before, after]: readonly unknown[]): HistoryEntry => ({
  at: new Date(Number(at)).toISOString(),
  kind: kind as HistoryEntry['kind'],
  changes: differences(before, after),
});

// The differences of two JSON images, by field.
function differences(before: unknown, after: unknown): Change[] {
  const [old, current] = [before, after].map(
    image => JSON.parse(typeof image === 'string' ? image : '{}') as Record<string, unknown>,
  ) as [Record<string, unknown>, Record<string, unknown>];
  const fields = [...new Set([...Object.keys(old), ...Object.keys(current)])];
  return fields
    .filter(field => JSON.stringify(old[field]) !== JSON.stringify(current[field]))
    .map(field => ({ field, before: old[field] ?? null, after: current[field] ?? null }));
}
