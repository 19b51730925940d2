import { createBatches } from '@stak/kit';
import type { EmbeddingModel, LanguageModel } from 'ai';
import * as limits from '../limits.ts';

// Providers of models. The SDKs take a second and 40 MB to load, so each is loaded on first use.

export type ProvidersConfig = {
  // Credentials are found as the AWS SDK finds them: environment, profile, container or instance role. Those given here
  // are for tests.
  bedrock?: { region: string; accessKeyId?: string; secretAccessKey?: string; baseURL?: string };
  anthropic?: { apiKey: string; baseURL?: string };
  openai?: { apiKey: string; baseURL?: string };
  google?: { apiKey: string; baseURL?: string };
  // Ollama, vLLM, LM Studio and others that implement OpenAI's protocol.
  openaiCompatible?: { baseURL: string; apiKey?: string };
};

export type Provider = {
  find(model: string): Promise<LanguageModel>;
  findEmbedding?(model: string): Promise<EmbeddingModel>; // undefined if it has no embedding models
  readonly defaultModel?: string; // used if this provider is the only one and no model is configured
  // The ids of its models; undefined if it cannot be reached.
  list(): Promise<string[] | undefined>;
  isKnown?(model: string): boolean; // if there is no list to check
};

export type ProviderName = 'anthropic' | 'bedrock' | 'google' | 'openai' | 'openai-compatible';

export function createProviders(config: ProvidersConfig): Map<string, Provider> {
  const { anthropic, bedrock, google, openai, openaiCompatible } = config;
  const all: [ProviderName, Provider | undefined][] = [
    ['anthropic', anthropic && anthropicProvider(anthropic)],
    ['bedrock', bedrock && bedrockProvider(bedrock)],
    ['google', google && googleProvider(google)],
    ['openai', openai && openaiProvider(openai)],
    ['openai-compatible', openaiCompatible && compatibleProvider(openaiCompatible)],
  ];
  return new Map(all.filter((entry): entry is [ProviderName, Provider] => entry[1] !== undefined));
}

const anthropicProvider = (options: NonNullable<ProvidersConfig['anthropic']>): Provider => ({
  defaultModel: 'claude-sonnet-4-5',
  async find(model) {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    return createAnthropic({ fetch: boundedFetch, ...options })(model);
  },
  list: () =>
    listIds(`${options.baseURL ?? 'https://api.anthropic.com/v1'}/models?limit=1000`, {
      'x-api-key': options.apiKey,
      'anthropic-version': '2023-06-01',
    }),
});

const openaiProvider = (options: NonNullable<ProvidersConfig['openai']>): Provider => ({
  defaultModel: 'gpt-5-mini',
  async find(model) {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ fetch: boundedFetch, ...options })(model);
  },
  async findEmbedding(model) {
    const { createOpenAI } = await import('@ai-sdk/openai');
    return createOpenAI({ fetch: boundedFetch, ...options }).embeddingModel(model);
  },
  list: () => listIds(`${options.baseURL ?? 'https://api.openai.com/v1'}/models`, bearer(options.apiKey)),
});

const googleProvider = (options: NonNullable<ProvidersConfig['google']>): Provider => ({
  defaultModel: 'gemini-2.5-flash',
  async find(model) {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    return createGoogleGenerativeAI({ fetch: boundedFetch, ...options })(model);
  },
  async findEmbedding(model) {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    return createGoogleGenerativeAI({ fetch: boundedFetch, ...options }).embeddingModel(model);
  },
  list: () =>
    listIds(`${options.baseURL ?? 'https://generativelanguage.googleapis.com/v1beta'}/models?pageSize=1000`, {
      'x-goog-api-key': options.apiKey,
    }),
});

const compatibleProvider = (options: NonNullable<ProvidersConfig['openaiCompatible']>): Provider => ({
  async find(model) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const base = { name: 'openai-compatible', includeUsage: true, fetch: boundedFetch };
    return createOpenAICompatible({ ...base, ...options })(model);
  },
  async findEmbedding(model) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
    const base = { name: 'openai-compatible', fetch: boundedFetch };
    return createOpenAICompatible({ ...base, ...options }).embeddingModel(model);
  },
  list: () => listIds(`${options.baseURL}/models`, options.apiKey ? bearer(options.apiKey) : {}),
});

// InvokeModel accepts a model, an inference profile prefixed with its geography, or an ARN.
// https://docs.aws.amazon.com/bedrock/latest/userguide/inference-profiles-support.html
const bedrockId = /^(?:arn:aws[\w-]*:bedrock:.+|(?:[a-z]{2,6}(?:-gov)?\.)?[a-z0-9-]+\.[a-z0-9][\w.:-]+)$/;
const claudeId = /^claude-[a-z0-9-]+-\d{8}$/;

// Claude is available through inference profiles only, which use another form of Anthropic's ids.
function bedrockModelId(model: string, region: string): string {
  if (!claudeId.test(model)) return model;
  const [geography] = /^(?:us|eu)(?=-(?!gov))/.exec(region) ?? ['global'];
  return `${geography}.anthropic.${model}-v1:0`;
}

function bedrockProvider(options: NonNullable<ProvidersConfig['bedrock']>): Provider {
  const { region, accessKeyId, ...given } = options;
  const defaultModel = bedrockModelId('claude-sonnet-4-5-20250929', region);
  const open = async () => {
    const { createAmazonBedrock } = await import('@ai-sdk/amazon-bedrock');
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    const credentials =
      accessKeyId === undefined ? { credentialProvider: defaultProvider() } : { accessKeyId };
    return createAmazonBedrock({ fetch: boundedFetch, region, ...given, ...credentials });
  };
  return {
    defaultModel,
    find: async model => (await open())(bedrockModelId(model, region)),
    findEmbedding: async model => (await open()).embeddingModel(model),
    list: async () => undefined,
    isKnown: model => bedrockId.test(bedrockModelId(model, region)),
  };
}

const bearer = (apiKey: string) => ({ authorization: `Bearer ${apiKey}` });

// `{"data": [{"id"}]}` from OpenAI and Anthropic, or `{"models": [{"name": "models/…"}]}` from Google.
async function listIds(url: string, headers: Record<string, string>): Promise<string[] | undefined> {
  try {
    const response = await boundedFetch(url, { headers, signal: AbortSignal.timeout(limits.modelListMs) });
    if (!response.ok) return undefined;
    const { data, models } = (await response.json()) as {
      data?: readonly { id?: unknown }[];
      models?: readonly { name?: unknown }[];
    };
    const ids = data?.map(({ id }) => id) ?? models?.map(({ name }) => String(name).replace(/^models\//, ''));
    const texts = ids?.filter(id => typeof id === 'string' && id !== '') as string[] | undefined;
    return texts && texts.length > 0 ? texts : undefined;
  } catch {
    return undefined;
  }
}

// The SDK does much with every piece of an answer, and the pieces of many chats may arrive at once.
const joinBatch = createBatches(limits.piecesTogether);

// Nothing else ends an endless response: the SDK buffers everything it reads.
const boundedFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!response.body) return response;
  let bytes = 0;
  const bounded = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      await joinBatch();
      bytes += chunk.byteLength;
      if (bytes > limits.modelBytes) controller.error(new Error('The response has too many bytes'));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(bounded), { status, statusText, headers });
};
