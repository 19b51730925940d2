import type { ModelsConfig, ProviderName } from '@stak/agents';
import { z } from 'zod';
import type { Variables } from './config.ts';

// The part of the configuration about models and their costs.

const price =
  /^(?<model>.+)=(?<input>\d+(?:\.\d+)?)\/(?<output>\d+(?:\.\d+)?)(?:\/(?<cached>\d+(?:\.\d+)?))?$/;

const spend = /^(?<whose>[a-z][\w-]*)=(?:unlimited|(?<usd>\d+(?:\.\d+)?))$/;
export const prices = z.array(
  z
    .string()
    .regex(price, 'must be model=in/out or model=in/out/cached, like anthropic/claude-sonnet-4-5=3/15/0.3'),
);
export const spending = z.array(
  z.string().regex(spend, 'must be plan=dollars, account=dollars or plan=unlimited, like pro=20'),
);
const providerNames: readonly ProviderName[] = [
  'anthropic',
  'bedrock',
  'google',
  'openai',
  'openai-compatible',
];
export const modelName = z
  .string()
  .regex(
    new RegExp(`^(?:${providerNames.join('|')})/.+$`),
    `must be provider/model, like anthropic/claude-sonnet-4-5; providers are ${providerNames.join(', ')}`,
  );

const embeddingName = modelName.refine(
  name => !name.startsWith('anthropic/'),
  'must be of bedrock, google, openai or openai-compatible: Anthropic has no embedding models',
);

export const modelVariables = {
  STAK_MODEL: modelName.optional(),
  STAK_MODEL_FALLBACK: modelName.optional(),
  STAK_EMBEDDING_MODEL: embeddingName.optional(),
};

const nameOf = (text: string) => {
  const slash = text.indexOf('/');
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
};

// Without any of them, agents respond by rules and skills.
export function readModels(data: Variables): ModelsConfig {
  const { STAK_ANTHROPIC_API_KEY: anthropicKey, STAK_GEMINI_API_KEY: googleKey } = data;
  const { STAK_OPENAI_URL: baseURL, STAK_OPENAI_API_KEY: openaiKey, STAK_BEDROCK_REGION: region } = data;
  const { STAK_MODEL: chosen, STAK_MODEL_FALLBACK: fallback, STAK_MODEL_MAX_TOKENS: maxTokens } = data;
  const { STAK_EMBEDDING_MODEL: embedding } = data;
  const prices = data.STAK_MODEL_PRICES.map(text => {
    const { model = '', input, output, cached } = price.exec(text)?.groups ?? {};
    const ofCached = cached === undefined ? {} : { cached: Number(cached) };
    return [model, { input: Number(input), output: Number(output), ...ofCached }] as const;
  });
  return {
    ...(anthropicKey && { anthropic: { apiKey: anthropicKey } }),
    ...(googleKey && { google: { apiKey: googleKey } }),
    ...(openaiKey && !baseURL && { openai: { apiKey: openaiKey } }),
    ...(baseURL && {
      openaiCompatible: { baseURL: baseURL.replace(/\/+$/, ''), ...(openaiKey && { apiKey: openaiKey }) },
    }),
    ...(region && { bedrock: { region } }),
    ...(chosen && { default: nameOf(chosen) }),
    ...(fallback && { fallback: nameOf(fallback) }),
    ...(embedding && { embedding: nameOf(embedding) }),
    ...(prices.length > 0 && { prices: Object.fromEntries(prices) }),
    ...(maxTokens !== undefined && { maxTokens }),
    allowed: data.STAK_MODELS_ALLOWED,
    setup: {
      provider:
        'Set STAK_OPENAI_URL (a server of your own, such as Ollama), STAK_ANTHROPIC_API_KEY, STAK_OPENAI_API_KEY, STAK_GEMINI_API_KEY or STAK_BEDROCK_REGION in the environment of the server.',
      model:
        "Set STAK_MODEL=provider/model in the environment of the server, or ai_provider and ai_model in the tenant's settings.",
    },
  };
}

// Dollars per day, by plan or account, which have different names; null: no limit besides those of tenants.
type SpendLimits = Readonly<Record<string, number | null>>;

export const readSpend = ({ STAK_MODEL_SPEND_PER_DAY }: Variables): SpendLimits =>
  Object.fromEntries(
    STAK_MODEL_SPEND_PER_DAY.map(text => {
      const { whose = '', usd } = spend.exec(text)?.groups ?? {};
      return [whose, usd === undefined ? null : Number(usd)];
    }),
  );

// The operator's limit for the account or its plan, or else the plan's own.
export function findSpendLimit(
  limits: SpendLimits,
  accountId: string,
  { plan, modelUsdPerDay }: { plan: string; modelUsdPerDay: number | null },
): number | undefined {
  const named = [accountId, plan].find(name => Object.hasOwn(limits, name));
  return (named === undefined ? modelUsdPerDay : limits[named]) ?? undefined;
}
