import type { EnteredTenant } from '../deps.ts';
import * as limits from '../limits.ts';
import { type AgentSettings, readAgentSettings, withProfile } from '../settings.ts';
import { type AgentDefinition, agentDefinition } from './schema.ts';

// What a definition means: the settings that it replaces, and its prompt with the values of its variables.

export const readDefinition = (text: string): AgentDefinition => agentDefinition.parse(JSON.parse(text));

// Variables that every prompt has. A definition cannot have one of these names.
export const givenVariables = ['agent', 'channel', 'date', 'tenant', 'user_id'] as const;
type GivenVariable = (typeof givenVariables)[number];

const reference = /\{\{ *([a-z][a-z0-9_]*) *\}\}/g;

// The names that a prompt uses.
export const variablesIn = (prompt: string): string[] => [
  ...new Set([...prompt.matchAll(reference)].map(([, name]) => name!)),
];

export type Values = Readonly<Record<string, string>>;

// Puts the values in. A value is text, in which nothing is replaced.
export function renderPrompt(prompt: string, own: Values, given: Record<GivenVariable, string>): string {
  const values = new Map(Object.entries({ ...own, ...given }));
  const rendered = prompt.replace(reference, (whole, name: string) => values.get(name) ?? whole);
  return rendered.length <= limits.renderedChars
    ? rendered
    : rendered.slice(0, limits.renderedChars).toWellFormed();
}

// The tenant, with its settings as this agent has them.
export function asAgent(
  tenant: EnteredTenant,
  name: string,
  version: number,
  definition: AgentDefinition,
): EnteredTenant & { settings: AgentSettings } {
  const { model, memory, greeting, languages, variables, handoffs, asks } = definition;
  const { spend_per_day_usd, spend_per_turn_usd } = definition;
  const profile = {
    ...{ name, version, greeting, languages, variables, handoffs, asks },
    ...(spend_per_day_usd !== null && { spend_per_day_usd }),
    ...(spend_per_turn_usd !== null && { spend_per_turn_usd }),
  };
  const { skill_approvals } = readAgentSettings(tenant.settings);
  const settings = withProfile(tenant.settings, profile, {
    ...(definition.prompt !== '' && { system_prompt_override: definition.prompt }),
    ...(model && { ai_provider: model.provider, ai_model: model.model }),
    ...(definition.fallbacks.length > 0 && { fallbacks: definition.fallbacks }),
    enabled_skills: definition.skills,
    custom_skills: [],
    skill_approvals: { ...skill_approvals, ...definition.approvals },
    ...(memory !== null && { memory }),
  });
  return { ...tenant, settings };
}
