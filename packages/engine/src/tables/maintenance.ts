import { discardUnfinished } from '../actions/backups.ts';
import type { Context } from '../context.ts';
import { type Table, vectorsOf } from '../storage/table.ts';
import { endUnfinished } from '../transfer/export.ts';
import { continueImport, importRecords } from '../transfer/import.ts';
import { startExpiryFill, startIndexFill, startVectorFill } from './backfill.ts';
import { startExpiryRemoval, startGarbageRemoval, startIndexRemoval, startVectorRemoval } from './removal.ts';
import { continueRestore } from './restoration.ts';

// The descriptors say what is unfinished, so work that a crash interrupted is found by reading them.
export function resumeMaintenance(context: Context): void {
  startGarbageRemoval(context);
  for (const table of context.catalog.all()) {
    if (table.importedBy !== undefined) resumeImport(context, table.importedBy);
    else if (table.isCreating) continueRestore(context, table);
    else maintainTable(context, table);
  }
  context.background('unfinished backups', () => discardUnfinished(context));
  context.background('unfinished exports', () => endUnfinished(context));
}

function resumeImport(context: Context, key: string): void {
  const record = importRecords.get(context, key);
  if (record) continueImport(context, record);
}

export function maintainTable(context: Context, table: Table): void {
  for (const index of table.indexes) {
    if (index.status === 'CREATING') startIndexFill(context, table, index.id);
    if (index.status === 'DELETING') startIndexRemoval(context, table, index.id);
  }
  for (const index of vectorsOf(table)) {
    if (index.status === 'CREATING') startVectorFill(context, table, index.id);
    if (index.status === 'DELETING') startVectorRemoval(context, table, index.id);
  }
  if (table.ttl?.status === 'ENABLING') startExpiryFill(context, table);
  if (table.ttl?.status === 'DISABLING') startExpiryRemoval(context, table);
}
