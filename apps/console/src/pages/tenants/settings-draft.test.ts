import { describe, expect, it } from 'vitest';
import { draftOf, patchOf, type Settings } from './settings-draft.ts';

const settings: Settings = {
  ai_provider: 'anthropic',
  ai_model: 'claude',
  system_prompt_override: '',
  max_tokens_per_message: 4096,
  enabled_channels: ['dashboard'],
  enabled_skills: ['usage'],
  custom_skills: ['hours', { name: 'stock', owner: 'shop' }],
  messages_per_day: 1000,
  max_conversation_history: 20,
  ai_fallback: { provider: 'bedrock', model: 'nova' },
  spend_per_day_usd: 5,
};

describe('the draft of settings', () => {
  it('round-trips the settings it was created from', () => {
    const { enabled_channels: _, enabled_skills: __, custom_skills: ___, ...same } = settings;
    expect(patchOf(draftOf(settings))).toEqual({
      ...same,
      busy: 'wait',
      max_context_tokens: null,
      messages_per_user_per_day: null,
    });
  });

  it('clears emptied fields', () => {
    const draft = { ...draftOf(settings), fallbackModel: '', spendUsd: '' as const };
    expect(patchOf(draft)).toMatchObject({ ai_fallback: null, spend_per_day_usd: null });
  });
});
