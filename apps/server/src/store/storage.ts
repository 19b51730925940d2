import { accountOwners, type ServiceOwners, type StorageNotice, sizeText } from '@stak/accounts';
import { agentOwners, conversationsTable, tenantsWithMemory } from '@stak/agents';
import { inboxOwners, inboxTable } from '@stak/inbox';
import { taskOwners, todoAppData } from '@stak/tasks';
import { tenantOwners } from '@stak/tenants';
import { ferryhookEvents, ferryhookMain, webhookOwners } from '@stak/webhooks';

// The tables whose bytes count, with the owner of each entity. A new entity must be in its service's list: otherwise
// the server does not start.
export const countedTables = [
  ferryhookMain,
  ferryhookEvents,
  tenantsWithMemory,
  inboxTable,
  conversationsTable,
  todoAppData,
] as const;

export type OwnerKind = 'account' | 'tenant' | 'source' | 'connection';
export const ownersOfServices: readonly ServiceOwners<OwnerKind>[] = [
  { service: 'accounts', owners: accountOwners },
  { service: 'webhooks', owners: webhookOwners },
  { service: 'tenants', owners: tenantOwners },
  { service: 'inbox', owners: inboxOwners },
  { service: 'agents', owners: agentOwners },
  { service: 'tasks', owners: taskOwners },
];

export const noticeOf = ({ percent, usedBytes, limitBytes, plan }: StorageNotice) =>
  percent >= 100
    ? {
        title: 'Your storage is full',
        body: `You use ${sizeText(usedBytes)} of the ${sizeText(limitBytes)} that the plan "${plan}" keeps. Nothing new is stored until you delete something or choose a larger plan; what is stored can be read and is delivered.`,
      }
    : {
        title: `${percent} % of your storage is used`,
        body: `You use ${sizeText(usedBytes)} of the ${sizeText(limitBytes)} that the plan "${plan}" keeps. When it is full, nothing new is stored.`,
      };
