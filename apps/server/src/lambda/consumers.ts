import { storageTable } from '@stak/accounts';
import { conversationsTable, tenantsWithMemory } from '@stak/agents';
import { inboxTable } from '@stak/inbox';
import type { AnyTable } from '@stak/table';
import { todoAppData } from '@stak/tasks';
import { ferryhookEvents, ferryhookMain } from '@stak/webhooks';
import { serverStreamsTable } from '../presence.ts';

export type LambdaConsumer = {
  export: string; // of handlers.ts
  table: AnyTable; // whose stream it follows
  writes: readonly AnyTable[]; // and reads
  reads?: readonly AnyTable[];
  isConfigured?: boolean; // it depends on the variables and secrets of the servers
};

// The stream consumers that can run as Lambda functions, and the tables that they touch: the template allows each
// function these, and no others. All of them set records aside and mark events in the table of the streams.
export const lambdaConsumers: Readonly<Record<string, LambdaConsumer>> = {
  'accounts-audit': {
    export: 'accountsAudit',
    table: ferryhookMain,
    writes: [ferryhookEvents, ferryhookMain, inboxTable],
    reads: [storageTable],
    isConfigured: true,
  },
  'agents-approvals': {
    export: 'agentsApprovals',
    table: conversationsTable,
    writes: [inboxTable],
    reads: [conversationsTable, tenantsWithMemory],
  },
  'agents-documented-item': {
    export: 'agentsDocumentedItem',
    table: conversationsTable,
    writes: [conversationsTable],
  },
  'inbox-expiries': { export: 'inboxExpiries', table: inboxTable, writes: [inboxTable] },
  'inbox-reads': { export: 'inboxReads', table: inboxTable, writes: [inboxTable] },
  'tasks-settings': { export: 'tasksSettings', table: todoAppData, writes: [todoAppData] },
  'webhooks-alerts': {
    export: 'webhooksAlerts',
    table: ferryhookMain,
    writes: [ferryhookMain, inboxTable],
    isConfigured: true,
  },
};

export const stateTable: AnyTable = serverStreamsTable;
