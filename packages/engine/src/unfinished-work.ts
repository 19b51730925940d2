import { discardUnfinished } from './actions/backups.ts';
import type { Context } from './context.ts';
import { maintainTable } from './tables/maintenance.ts';
import { startGarbageRemoval } from './tables/removal.ts';
import { continueRestore } from './tables/restoration.ts';
import { resumeBulkPuts } from './transfer/bulk-put.ts';
import { endUnfinished } from './transfer/export.ts';
import { continueImport, importRecords } from './transfer/import.ts';

// The descriptors say what is unfinished, so work that a crash interrupted is found by reading them.
export function resumeMaintenance(context: Context): void {
  startGarbageRemoval(context);
  for (const table of context.catalog.all()) {
    if (table.importedBy !== undefined) resumeImport(context, table.importedBy);
    else if (table.isCreating) continueRestore(context, table);
    else maintainTable(context, table);
  }
  context.background('unfinished backups', () => discardUnfinished(context));
  context.background('unfinished bulk operations', () => resumeBulkPuts(context));
  context.background('unfinished exports', () => endUnfinished(context));
}

function resumeImport(context: Context, key: string): void {
  const record = importRecords.get(context, key);
  if (record) continueImport(context, record);
}
