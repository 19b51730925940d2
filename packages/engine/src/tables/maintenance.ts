import type { Context } from '../context.ts';
import { type Table, vectorsOf } from '../storage/table.ts';
import { startExpiryFill, startIndexFill, startVectorFill } from './backfill.ts';
import { startExpiryRemoval, startIndexRemoval, startVectorRemoval } from './removal.ts';

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
