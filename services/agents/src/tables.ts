import { defineTable, extendTable } from '@stak/table';
import { tenants } from '@stak/tenants/tables';
import {
  agentsOfTenant,
  agentVersion,
  definitionsOfTenant,
  namedAgent,
  versionsOfAgent,
} from './agents/tables.ts';
import {
  channelSecrets,
  channelsOfTenant,
  notice,
  noticesOfTenant,
  tenantChannel,
} from './channels/tables.ts';
import {
  accountDay,
  agentDay,
  approval,
  approvalsOfConversation,
  approvalsOfTenant,
  approvalsOfUser,
  conversation,
  conversationsKeys,
  conversationsOfTenant,
  conversationsOfUser,
  creation,
  daysOfAccount,
  daysOfTenant,
  daysOfUser,
  dueShardCount,
  dueStates,
  headsOfTenant,
  message,
  messagesOfConversation,
  pausedTurn,
  state,
  tenantDay,
  turn,
  turnById,
  turnsOfConversation,
  usageOfTenant,
  userDay,
} from './main-table.ts';
import {
  choicesOfTenant,
  dueMemoryJobs,
  factVector,
  forgotten,
  memoriesOfTenant,
  memoriesOfUser,
  memory,
  memoryChoice,
  memoryJob,
  turnVector,
  vectorsOfConversation,
  vectorsOfUser,
} from './memory/tables.ts';
import { mcpServer, mcpServersOfTenant } from './skills/mcp/tables.ts';
import { customSkill, skillsOfTenant } from './skills/tables.ts';

// Every entity, without the code that uses them, for consumers of the table's stream.
export * from './agents/tables.ts';
export * from './channels/tables.ts';
export * from './main-table.ts';
export * from './memory/tables.ts';
export * from './skills/mcp/tables.ts';
export * from './skills/tables.ts';

export const conversations = defineTable(conversationsKeys, {
  entities: [
    conversation,
    state,
    turn,
    message,
    tenantDay,
    userDay,
    agentDay,
    accountDay,
    pausedTurn,
    approval,
    channelSecrets,
    tenantChannel,
    notice,
    customSkill,
    namedAgent,
    agentVersion,
    mcpServer,
    memoryJob,
    turnVector,
    factVector,
    creation,
    dueShardCount,
  ],
  queries: [
    conversationsOfUser,
    conversationsOfTenant,
    headsOfTenant,
    turnById,
    turnsOfConversation,
    messagesOfConversation,
    dueStates,
    daysOfTenant,
    daysOfUser,
    usageOfTenant,
    daysOfAccount,
    approvalsOfConversation,
    approvalsOfUser,
    approvalsOfTenant,
    channelsOfTenant,
    noticesOfTenant,
    skillsOfTenant,
    agentsOfTenant,
    versionsOfAgent,
    definitionsOfTenant,
    mcpServersOfTenant,
    dueMemoryJobs,
    vectorsOfUser,
    vectorsOfConversation,
  ],
});

// The design document stores memory in the table of tenants.
export const tenantsWithMemory = extendTable(tenants, {
  entities: [memory, memoryChoice, forgotten],
  queries: [memoriesOfUser, memoriesOfTenant, choicesOfTenant],
});
