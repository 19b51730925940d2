import { createNotifier, createRecentMap, systemRandom, unknownOwners } from '@stak/kit';
import { createA2aRoutes } from './a2a/routes.ts';
import { createAgentRoutes } from './agents/routes.ts';
import { createApprovalRoutes } from './approvals/routes.ts';
import { providerAddresses } from './channels/provider-addresses.ts';
import { createChannelRoutes } from './channels/routes.ts';
import { slack } from './channels/slack.ts';
import { teams } from './channels/teams.ts';
import { telegram } from './channels/telegram.ts';
import { whatsapp } from './channels/whatsapp.ts';
import { createConversationRoutes } from './chat/handlers.ts';
import { createUiRoutes } from './chat/ui-routes.ts';
import type { AgentsDeps, Service } from './deps.ts';
import { createEraser } from './erasure.ts';
import { agentErrors } from './errors.ts';
import * as limits from './limits.ts';
import { ownSkills } from './memory/conversation-skills.ts';
import { createMemoryRoutes } from './memory/routes.ts';
import { createModelRoutes } from './models/routes.ts';
import { createChatRoutes } from './openai/chat-routes.ts';
import { createModelListRoutes } from './openai/model-routes.ts';
import { createResponseRoutes } from './openai/response-routes.ts';
import type { TenantSettings } from './settings.ts';
import { checkSettings } from './settings-check.ts';
import { portSkills } from './skills/built-in.ts';
import { createMcpRoutes } from './skills/mcp/routes.ts';
import { createSkillRoutes } from './skills/routes.ts';
import { createConversationMemory } from './state/conversation-memory.ts';
import { createConversationShards } from './state/due-shards.ts';
import { createHub } from './streaming/live-answers.ts';
import { createFollowers, createSubscriptions } from './subscriptions.ts';
import { conversations } from './tables.ts';
import { createMemoryWorker, createTurnWorker, runDue } from './turns/worker.ts';
import { createMessageCounter } from './usage/counter.ts';
import { createWhy } from './why.ts';

export type { AgentsDeps, ApprovalRequest, FindChannelUser, SpendShare, ToolsRequest } from './deps.ts';
export { agentErrors } from './errors.ts';
export { createModels, type Models, type ModelsConfig } from './models/models.ts';
export type { ProviderName } from './models/providers.ts';
export { agentOwners } from './owners.ts';
export type {
  InboxSummary,
  SkillPorts,
  TaskStatistics,
  WebhookHealth,
} from './skills/built-in.ts';
export { defineSkill, type Skill, type SkillOwner, type SkillScope } from './skills/skill.ts';
export { conversations as conversationsTable, tenantsWithMemory } from './tables.ts';

export function createAgents(deps: AgentsDeps) {
  const service = createService(deps);
  return {
    api: [
      ...createConversationRoutes(service),
      ...createAgentRoutes(service),
      ...createSkillRoutes(service),
      ...createMemoryRoutes(service),
      ...createChannelRoutes(service),
      ...createModelRoutes(service),
      ...createUiRoutes(service),
      ...createChatRoutes(service),
      ...createResponseRoutes(service),
      ...createModelListRoutes(service),
      ...createA2aRoutes(service),
      ...createApprovalRoutes(service),
      ...createMcpRoutes(service),
    ] as const,
    errors: agentErrors,
    tables: [conversations],
    subscriptions: createSubscriptions(service),
    followers: createFollowers(service),
    workers: [createTurnWorker(service), createMemoryWorker(service)],
    eraser: createEraser(service),
    prepare: () => service.dueShards.refresh(),
    // Settings that the server cannot fulfil, checked before they are saved.
    checkSettings: (tenantId: string, before: TenantSettings, after: TenantSettings) =>
      checkSettings(service, tenantId, before, after),
    accountSkills: service.skills.filter(skill => skill.isAboutAccount).map(skill => skill.name),
    why: createWhy(service),
    // One round of the worker: for tests and for processes without one.
    runDue: () => runDue(service),
  };
}

export type Agents = ReturnType<typeof createAgents>;

function createService(deps: AgentsDeps): Service {
  const { store, clock, ids, log, sealer, outbound, enterTenant, resolveChannel, findChannelUser } = deps;
  const addresses = { ...providerAddresses, ...deps.addresses };
  const service: Service = {
    ...{ store, clock, ids, log, sealer, outbound, enterTenant, resolveChannel, findChannelUser },
    owners: deps.owners ?? unknownOwners(ids),
    random: deps.random ?? systemRandom,
    dueShards: createConversationShards(deps),
    mcpOutbound: deps.mcpOutbound ?? outbound,
    publicUrl: deps.publicUrl ?? 'http://localhost',
    roleOf: deps.roleOf ?? (async () => undefined),
    askApproval: deps.askApproval ?? (async () => {}),
    withdrawApproval: deps.withdrawApproval ?? (async () => {}),
    askAboutTools: deps.askAboutTools ?? (async () => {}),
    audit: deps.audit ?? (async () => {}),
    hasRoom: deps.hasRoom ?? (async () => true),
    models: deps.models,
    spendPerDayUsd: deps.spendPerDayUsd ?? (async () => undefined),
    onShareUsed: deps.onShareUsed,
    reportedShares: createRecentMap(limits.rememberedShares),
    skills: [...portSkills(deps.ports ?? {}), ...ownSkills(() => service), ...(deps.skills ?? [])],
    channels: {
      slack: slack(addresses.slack),
      teams: teams(addresses),
      telegram: telegram(addresses.telegram),
      whatsapp: whatsapp(addresses.whatsapp),
    },
    isStoreLocal: deps.isStoreLocal ?? deps.peers !== undefined,
    conversationMemory: createConversationMemory(),
    unsavedAnswers: createRecentMap(limits.unsavedAnswers),
    countMessage: createMessageCounter({ store }),
    notifier: createNotifier(clock),
    memoryNotifier: createNotifier(clock),
    hub: createHub(clock, ids, deps.peers),
  };
  return service;
}
