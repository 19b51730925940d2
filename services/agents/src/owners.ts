import { ownedByItem, ownedByKey, ownedByNobody } from '@stak/table';
import { agentVersion, namedAgent } from './agents/tables.ts';
import { channelSecrets, notice, tenantChannel } from './channels/tables.ts';
import {
  accountDay,
  agentDay,
  approval,
  conversation,
  creation,
  dueShardCount,
  message,
  pausedTurn,
  state,
  tenantDay,
  turn,
  userDay,
} from './main-table.ts';
import { factVector, forgotten, memory, memoryChoice, memoryJob, turnVector } from './memory/tables.ts';
import { mcpServer } from './skills/mcp/tables.ts';
import { customSkill } from './skills/tables.ts';

const byTenant = ({ tenant_id }: { tenant_id: string }) => ({ kind: 'tenant', id: tenant_id }) as const;

// The account whose storage each item counts for.
export const agentOwners = [
  ownedByKey(conversation, byTenant),
  ownedByKey(state, byTenant),
  ownedByKey(turn, byTenant),
  ownedByKey(message, byTenant),
  ownedByKey(pausedTurn, byTenant),
  ownedByKey(approval, byTenant),
  ownedByKey(tenantDay, byTenant),
  ownedByKey(userDay, byTenant),
  ownedByKey(agentDay, byTenant),
  ownedByKey(accountDay, ({ account_id }) => ({ kind: 'account', id: account_id })),
  ownedByItem(channelSecrets, ({ tenant_id }) =>
    tenant_id === undefined ? undefined : byTenant({ tenant_id }),
  ),
  ownedByKey(tenantChannel, byTenant),
  ownedByKey(notice, byTenant),
  ownedByKey(customSkill, byTenant),
  ownedByKey(namedAgent, byTenant),
  ownedByKey(agentVersion, byTenant),
  ownedByKey(mcpServer, byTenant),
  ownedByKey(creation, byTenant),
  ownedByKey(memory, byTenant),
  ownedByKey(memoryChoice, byTenant),
  ownedByKey(forgotten, byTenant),
  ownedByKey(memoryJob, byTenant),
  ownedByKey(turnVector, byTenant),
  ownedByKey(factVector, byTenant),
  ownedByNobody(dueShardCount),
];
