import type { EnteredTenant } from '../deps.ts';
import { operatorsChoice } from '../models/models.ts';
import { defaultAgent, enabledNames, readAgentSettings } from '../settings.ts';
import type { AgentDefinition } from './schema.ts';

// The settings of a tenant, shown as the agent that they are. They have no versions: a change answers at once.
export function settingsAsAgent({ settings: stored }: Pick<EnteredTenant, 'settings'>) {
  const settings = readAgentSettings(stored);
  const { ai_provider: provider, ai_model: model, profile } = settings;
  const skills = [...enabledNames(settings)];
  const definition: AgentDefinition = {
    description: '',
    prompt: settings.system_prompt_override,
    variables: {},
    model: provider === operatorsChoice || model === operatorsChoice ? null : { provider, model },
    fallbacks: [...settings.fallbacks],
    skills,
    approvals: settings.skill_approvals,
    memory: settings.memory,
    spend_per_day_usd: null,
    spend_per_turn_usd: null,
    greeting: '',
    languages: [],
    handoffs: [...profile.handoffs],
    asks: [...profile.asks],
    is_open_to_users: true,
  };
  return {
    name: defaultAgent,
    is_settings: true,
    published_version: null,
    published_at: null,
    last_version: 0,
    has_changes: false,
    created_at: null,
    updated_at: null,
    draft: definition,
    published: definition,
    spent_today_usd: null,
  };
}
