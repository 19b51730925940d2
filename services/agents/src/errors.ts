import { defineErrors } from '@stak/kit';

export const agentErrors = defineErrors({
  'agents.conversation_not_found': 404,
  'agents.conversation_exists': 409,
  'agents.conversation_busy': 409,
  'agents.conversation_cleared': 409,
  'agents.message_not_found': 404,
  'agents.message_dropped': 410,
  'agents.message_refused': 422,
  'agents.quota_exceeded': 429,
  'agents.spend_exceeded': 429,
  'agents.price_unknown': 409,
  'agents.model_failed': 502,
  'agents.no_model': 409,
  'agents.model_not_found': 404,
  'agents.agent_not_found': 404,
  'agents.agent_exists': 412,
  'agents.agent_refused': 422,
  'agents.agent_not_published': 409,
  'agents.agent_is_settings': 409,
  'agents.too_many_agents': 409,
  'agents.version_not_found': 404,
  'agents.channel_disabled': 403,
  'agents.channel_not_found': 404,
  'agents.credentials_refused': 422,
  'agents.skill_not_found': 404,
  'agents.skill_exists': 412,
  'agents.skill_refused': 422,
  'agents.skill_name_taken': 409,
  'agents.too_many_skills': 409,
  'agents.approval_not_found': 404,
  'agents.approval_not_yours': 403,
  'agents.approval_decided': 409,
  'agents.mcp_server_not_found': 404,
  'agents.mcp_server_refused': 422,
  'agents.memory_not_found': 404,
  'agents.memory_declined': 409,
  'agents.memory_full': 409,
  'agents.user_not_found': 404,
  'agents.import_refused': 422,
});

export const noConversation = () =>
  agentErrors.create('agents.conversation_not_found', 'Conversation not found.');
export const noAgent = () => agentErrors.create('agents.agent_not_found', 'Agent not found.');
export const noMessage = () => agentErrors.create('agents.message_not_found', 'Message not found.');
export const isCleared = (error: unknown): boolean =>
  agentErrors.includes(error) && error.code === 'agents.conversation_cleared';
export const cleared = () =>
  agentErrors.create('agents.conversation_cleared', 'The conversation was cleared in the meantime.');

// The answer was stopped.
export class AnswerCancelled extends Error {
  override readonly name = 'AnswerCancelled';
}
