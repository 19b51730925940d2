import { storageTable } from '@stak/accounts';
import { conversationsTable, tenantsWithMemory } from '@stak/agents';
import { httpTable } from '@stak/http/table';
import { inboxTable } from '@stak/inbox';
import type { AnyTable } from '@stak/table';
import { todoAppData } from '@stak/tasks';
import { ferryhookEvents, ferryhookMain } from '@stak/webhooks';
import { serverStreamsTable } from './presence.ts';

// The tables of every service that is part of Stak, for `stak tables`. A service adds its designs here.
export const designs: readonly AnyTable[] = [
  ferryhookMain,
  ferryhookEvents,
  tenantsWithMemory,
  inboxTable,
  conversationsTable,
  todoAppData,
  storageTable,
  httpTable,
  serverStreamsTable,
];
