import { defineTable, extendTable } from '@stak/table';
import { tenants } from '@stak/tenants/tables';
import {
  approval,
  approvalsOfConversation,
  approvalsOfTenant,
  approvalsOfUser,
  pausedTurn,
} from './approvals/table.ts';
import {
  channelSecrets,
  channelsOfTenant,
  notice,
  noticesOfTenant,
  tenantChannel,
} from './channels/table.ts';
import { mcpServer, mcpServersOfTenant } from './mcp/table.ts';
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
} from './memory/table.ts';
import { customSkill, skillsOfTenant } from './skills/table.ts';
import {
  accountDay,
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
  state,
  tenantDay,
  turn,
  turnsOfConversation,
  usageOfTenant,
  userDay,
} from './table.ts';

// Every entity, without the code that uses them, for consumers of the table's stream.
export * from './approvals/table.ts';
export * from './channels/table.ts';
export * from './mcp/table.ts';
export * from './memory/table.ts';
export * from './skills/table.ts';
export * from './table.ts';

export const conversations = defineTable(conversationsKeys, {
  entities: [
    conversation,
    state,
    turn,
    message,
    tenantDay,
    userDay,
    accountDay,
    pausedTurn,
    approval,
    channelSecrets,
    tenantChannel,
    notice,
    customSkill,
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
