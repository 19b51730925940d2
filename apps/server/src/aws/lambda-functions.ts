import { storageTable } from '@stak/accounts';
import { conversationsTable, tenantsWithMemory } from '@stak/agents';
import { inboxTable } from '@stak/inbox';
import type { AnyTable } from '@stak/table';
import { todoAppData } from '@stak/tasks';
import { ferryhookEvents, ferryhookMain } from '@stak/webhooks';
import { serverStreamsTable } from '../store/presence.ts';

export type LambdaFunction = {
  name: string; // an export of lambda-handlers.ts
  table: AnyTable; // whose stream it follows
  consumers: readonly string[];
  writes: readonly AnyTable[]; // and reads
  reads?: readonly AnyTable[];
  isConfigured?: boolean; // depends on the variables and secrets of the servers
};

// The stream consumers that can run in Lambda, and the tables that they use: the template gives each function access to
// these, and no others. There is one function for a table, because DynamoDB throttles the reads of a shard that has more
// than two readers: the servers' consumers and the lake read it, too, so a second function would make all of them later.
export const lambdaFunctions: readonly LambdaFunction[] = [
  {
    name: 'ferryhookMain',
    table: ferryhookMain,
    consumers: ['accounts-audit', 'webhooks-alerts'],
    writes: [ferryhookEvents, ferryhookMain, inboxTable],
    reads: [storageTable],
    isConfigured: true,
  },
  {
    name: 'conversations',
    table: conversationsTable,
    consumers: ['agents-approvals', 'agents-documented-item', 'agents-mcp-tools'],
    writes: [conversationsTable, inboxTable],
    reads: [tenantsWithMemory],
  },
  {
    name: 'inbox',
    table: inboxTable,
    consumers: ['inbox-expiries', 'inbox-reads'],
    writes: [inboxTable],
  },
  { name: 'tasks', table: todoAppData, consumers: ['tasks-settings'], writes: [todoAppData] },
];

export const lambdaConsumers: readonly string[] = lambdaFunctions.flatMap(({ consumers }) => consumers);

// All handlers store dead letters and markers of effects here.
export const stateTable: AnyTable = serverStreamsTable;
