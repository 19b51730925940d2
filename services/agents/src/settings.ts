import { z } from 'zod';
import * as limits from './limits.ts';

// What a tenant's settings say to agents. The documented ones are always there; the others are ours, kept by tenants
// as they are, and read with a default where they are missing or wrong.
export type TenantSettings = {
  ai_provider: string;
  ai_model: string;
  system_prompt_override: string;
  max_tokens_per_message: number;
  enabled_channels: readonly string[];
  enabled_skills: readonly string[];
  custom_skills: readonly unknown[];
  messages_per_day: number;
  max_conversation_history: number;
  readonly [other: string]: unknown;
};

const fallbackModel = z.object({ provider: z.string().min(1), model: z.string().min(1) });

export type AgentSettings = TenantSettings & {
  busy: 'wait' | 'refuse';
  messages_per_user_per_day: number | undefined;
  spend_per_day_usd: number | undefined;
  max_context_tokens: number;
  ai_fallback: z.infer<typeof fallbackModel> | undefined;
};

const own = {
  busy: z.enum(['wait', 'refuse']).catch('wait'),
  messages_per_user_per_day: z.int().min(0).optional().catch(undefined),
  spend_per_day_usd: z.number().min(0).optional().catch(undefined),
  max_context_tokens: z.int().min(1).max(limits.windowTokensMost).catch(limits.windowTokens),
  ai_fallback: fallbackModel.optional().catch(undefined),
};

export const readAgentSettings = (settings: TenantSettings): AgentSettings => ({
  ...settings,
  busy: own.busy.parse(settings.busy),
  messages_per_user_per_day: own.messages_per_user_per_day.parse(settings.messages_per_user_per_day),
  spend_per_day_usd: own.spend_per_day_usd.parse(settings.spend_per_day_usd),
  max_context_tokens: own.max_context_tokens.parse(settings.max_context_tokens),
  ai_fallback: own.ai_fallback.parse(settings.ai_fallback),
});

// A tenant enables what it registered in `custom_skills`, by name; an object there may name it too.
export function enabledNames({ enabled_skills, custom_skills }: TenantSettings): Set<string> {
  const names = custom_skills.map(one =>
    typeof one === 'string' ? one : (one as { name?: unknown } | null)?.name,
  );
  return new Set([...enabled_skills, ...names.filter(name => typeof name === 'string')]);
}
