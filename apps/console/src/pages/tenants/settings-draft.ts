import type { ApiTypes, TenantSettings } from '@stak/client';

export type Settings = TenantSettings;
export type SettingsPatch = ApiTypes['tenants.updateSettings']['args']['body'];
type Amount = number | ''; // the value of a number field

// The values of the settings form.
export type SettingsDraft = {
  provider: string;
  model: string;
  fallbackProvider: string;
  fallbackModel: string;
  prompt: string;
  maxTokens: Amount;
  history: Amount;
  contextTokens: Amount;
  messagesPerDay: Amount;
  messagesPerUser: Amount;
  spendUsd: Amount;
  busy: 'wait' | 'refuse';
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const amountOf = (value: unknown): Amount => (typeof value === 'number' ? value : '');

export function draftOf(settings: Settings): SettingsDraft {
  const fallback = settings.ai_fallback as { provider?: unknown; model?: unknown } | null | undefined;
  return {
    provider: settings.ai_provider,
    model: settings.ai_model,
    fallbackProvider: textOf(fallback?.provider),
    fallbackModel: textOf(fallback?.model),
    prompt: settings.system_prompt_override,
    maxTokens: settings.max_tokens_per_message,
    history: settings.max_conversation_history,
    contextTokens: amountOf(settings.max_context_tokens),
    messagesPerDay: settings.messages_per_day,
    messagesPerUser: amountOf(settings.messages_per_user_per_day),
    spendUsd: amountOf(settings.spend_per_day_usd),
    busy: settings.busy === 'refuse' ? 'refuse' : 'wait',
  };
}

// Empty becomes null, which restores the default.
const orNull = (amount: Amount): number | null => (amount === '' ? null : amount);

export function patchOf(draft: SettingsDraft): SettingsPatch {
  return {
    ai_provider: draft.provider,
    ai_model: draft.model,
    ai_fallback:
      draft.fallbackModel === '' ? null : { provider: draft.fallbackProvider, model: draft.fallbackModel },
    system_prompt_override: draft.prompt,
    max_tokens_per_message: orNull(draft.maxTokens),
    max_conversation_history: orNull(draft.history),
    max_context_tokens: orNull(draft.contextTokens),
    messages_per_day: orNull(draft.messagesPerDay),
    messages_per_user_per_day: orNull(draft.messagesPerUser),
    spend_per_day_usd: orNull(draft.spendUsd),
    busy: draft.busy,
  };
}
