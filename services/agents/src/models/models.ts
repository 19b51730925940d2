import type { LanguageModel } from 'ai';
import * as limits from '../limits.ts';

// Dollars for a million tokens, which is millionths of a dollar for one.
export type Price = { input: number; output: number };
export type ModelName = { provider: string; model: string };

export type Models = {
  // Undefined for a provider that the operator has not configured.
  find(name: ModelName): Promise<LanguageModel | undefined>;
  priceOf(name: ModelName): Price | undefined;
  readonly fallback?: ModelName; // for every tenant, after its own choices
};

export type ModelsConfig = {
  bedrock?: {
    region: string;
    accessKeyId?: string;
    secretAccessKey?: string;
    sessionToken?: string;
    baseURL?: string;
  };
  anthropic?: { apiKey: string; baseURL?: string };
  // Ollama, vLLM, LM Studio and whoever else speaks OpenAI's protocol.
  openaiCompatible?: { baseURL: string; apiKey?: string };
  prices?: Readonly<Record<string, Price>>; // by `provider/model`, or by model
  fallback?: ModelName;
};

// Nothing else ends a response that goes on for ever: the SDK keeps what it has read.
const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!response.body) return response;
  let bytes = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > limits.modelBytes) controller.error(new Error('The response has too many bytes'));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
};

type Find = (model: string) => Promise<LanguageModel>;

// The SDKs take a second and 40 MB to load, so nothing is loaded before a model is asked.
export function createModels(config: ModelsConfig): Models {
  const { bedrock, anthropic, openaiCompatible, prices = {}, fallback } = config;
  const priced = new Map(Object.entries(prices)); // a tenant names its model as it likes
  const providers: Record<string, Find> = {};
  if (bedrock)
    providers.bedrock = async model => {
      const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
      return createAmazonBedrock({ fetch: boundedFetch, ...bedrock })(model);
    };
  if (anthropic)
    providers.anthropic = async model => {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ fetch: boundedFetch, ...anthropic })(model);
    };
  if (openaiCompatible)
    providers['openai-compatible'] = async model => {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      const options = { name: 'openai-compatible', includeUsage: true, fetch: boundedFetch };
      return createOpenAICompatible({ ...options, ...openaiCompatible })(model);
    };
  return {
    find: async ({ provider, model }) => {
      const find = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
      return find?.(model);
    },
    priceOf: ({ provider, model }) => priced.get(`${provider}/${model}`) ?? priced.get(model),
    fallback,
  };
}
