import { isImported, type Subscription, subscribe } from '@stak/streams';
import { maySee } from './audit.ts';
import * as limits from './limits.ts';
import { type AuditEntry, auditEntry } from './main-table.ts';
import { accountsTable } from './tables.ts';

// Delivers new entries of an account's audit trail, at least once. Entries that concern only the person are left out,
// as they are for the account's other members.
export const auditSubscription = (onEntry: (entry: AuditEntry) => Promise<void>): Subscription =>
  subscribe({
    name: 'accounts-audit',
    table: accountsTable,
    entities: [auditEntry],
    concurrency: limits.auditsTogether,
    async handle(change) {
      if (change.kind !== 'insert' || isImported(change.new) || !maySee(change.new, 'anybody')) return;
      await onEntry(change.new);
    },
  }) as Subscription;
