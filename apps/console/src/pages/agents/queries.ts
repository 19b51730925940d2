import type { ApiTypes } from '@stak/client';
import { useQuery } from '@tanstack/react-query';
import { useRows } from '../../queries/answers.ts';
import { client } from '../../queries/api.ts';

export type ConversationPath = { tenant_id: string; conversation_id: string };

export type OwnSkill = ApiTypes['agents.getCustomSkill']['data'] & { is_enabled: boolean };
export type Conversation = ApiTypes['agents.listConversations']['data']['data'][number];
export type Turn = ApiTypes['agents.listMessages']['data']['data'][number];
export type Approval = ApiTypes['agents.getApproval']['data'];
export type ListedAgent = ApiTypes['agents.listAgents']['data']['data'][number];
export type Memory = ApiTypes['agents.listMemory']['data']['data'][number];

// A conversation is named after its first message, once that is answered.
export const nameOfConversation = ({ title, turns, conversation_id }: Conversation): string =>
  title ?? (turns === 0 ? 'New conversation' : conversation_id);

export const skillsKey = (tenant_id: string) => ['skills', tenant_id] as const;
export const agentsKey = (tenant_id: string) => ['named-agents', tenant_id] as const;
export const agentKey = (tenant_id: string, name: string) => ['named-agent', tenant_id, name] as const;
export const channelsKey = (tenant_id: string) => ['channels', tenant_id] as const;
export const conversationsKey = (tenant_id: string) => ['conversations', tenant_id] as const;
export const conversationKey = (conversationPath: ConversationPath) =>
  ['conversation', conversationPath.tenant_id, conversationPath.conversation_id] as const;
export const turnsKey = (conversationPath: ConversationPath) =>
  ['turns', conversationPath.tenant_id, conversationPath.conversation_id] as const;
export const approvalsKey = (conversationPath: ConversationPath) =>
  ['approvals', conversationPath.tenant_id, conversationPath.conversation_id] as const;
export const memoryKey = (tenant_id: string, user_id: string) => ['memory', tenant_id, user_id] as const;
export const usageKey = (tenant_id: string) => ['agent-usage', tenant_id] as const;

export const useSkills = (tenant_id: string) =>
  useRows(skillsKey(tenant_id), () => client.agents.listSkills({ tenant_id }));

// The registered skills, and which of them are enabled. A tenant has at most fifty.
async function readOwnSkills(tenant_id: string): Promise<OwnSkill[]> {
  const [own, all] = await Promise.all([
    client.agents.listCustomSkills({ tenant_id, limit: 100 }),
    client.agents.listSkills({ tenant_id }),
  ]);
  const enabled = new Set(all.data.data.filter(one => one.is_enabled).map(one => one.name));
  return own.data.data.map(one => ({ ...one, is_enabled: enabled.has(one.name) }));
}

// Below the key of the skills, so that both are invalidated together.
export const useOwnSkills = (tenant_id: string) =>
  useQuery({ queryKey: [...skillsKey(tenant_id), 'own'], queryFn: () => readOwnSkills(tenant_id) });
