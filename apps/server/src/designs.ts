import { ferryhookMain, storageTable } from '@stak/accounts';
import { conversationsTable } from '@stak/agents';
import { httpTable } from '@stak/http/table';
import { inboxTable } from '@stak/inbox';
import { streamsTable } from '@stak/streams';
import type { AnyTable } from '@stak/table';
import { todoAppData } from '@stak/tasks';
import { tenantsTable } from '@stak/tenants';
import { ferryhookEvents } from '@stak/webhooks';
import './presence.ts'; // has an entity in a table of another

// The tables of every service that is part of Stak, for `stak tables`. A service adds its designs here.
export const designs: readonly AnyTable[] = [
  ferryhookMain,
  ferryhookEvents,
  tenantsTable,
  inboxTable,
  conversationsTable,
  todoAppData,
  storageTable,
  httpTable,
  streamsTable,
];
