import type { Clock } from '@stak/kit';
import type { EmbeddingModel, LanguageModel } from 'ai';
import * as limits from '../limits.ts';
import { createProviders, type Provider, type ProvidersConfig } from './providers.ts';

// Dollars per million tokens, or millionths of a dollar per token. `cached` is for input that the provider has read
// before; without it, that costs as much as any other.
export type Price = { input: number; output: number; cached?: number };
export type ModelName = { provider: string; model: string };

export type Models = {
  // Undefined for a provider that is not configured, and for a model that the operator does not allow.
  find(name: ModelName): Promise<LanguageModel | undefined>;
  priceOf(name: ModelName): Price | undefined;
  // The price that the operator's limits assume for a model. If its price is unknown, higher than it can be.
  limitPriceOf?(name: ModelName): Price;
  // The model that compares texts by meaning, if the operator has chosen one.
  readonly embedding?: { name: ModelName; find(): Promise<EmbeddingModel> };
  readonly default?: ModelName; // for tenants that chose none
  readonly fallback?: ModelName; // for every tenant, after its own choices
  readonly maxTokens?: number; // of one answer; overrides the tenant's setting
  readonly providers?: readonly string[]; // the configured ones
  // Why there is no default, and where to set one.
  readonly missing?: string;
  list?(): Promise<ModelName[]>;
  // Why a tenant cannot choose this model; undefined if it can.
  problemWith?(name: ModelName): Promise<string | undefined>;
};

export type ModelsConfig = ProvidersConfig & {
  prices?: Readonly<Record<string, Price>>; // by `provider/model`, or by model
  default?: ModelName;
  fallback?: ModelName;
  embedding?: ModelName; // compares texts by meaning
  allowed?: readonly string[]; // `provider/model`, with `*` as a wildcard; all models if empty
  maxTokens?: number;
  // Where the operator sets providers and the default, for the error if there are none.
  setup?: { provider: string; model: string };
};

export const modelText = ({ provider, model }: ModelName): string => `${provider}/${model}`;

// The value of both settings for a tenant that has not chosen a model.
export const operatorsChoice = 'default';

// The highest price of any provider. Self-hosted servers cost nothing, unless they are given a price.
const unknownPrice: Price = { input: 15, output: 75 };
const noPrice: Price = { input: 0, output: 0 };

export function createModels(config: ModelsConfig, clock: Pick<Clock, 'now'> = { now: Date.now }): Models {
  const { prices = {}, fallback, allowed = [], maxTokens } = config;
  const priced = new Map(Object.entries(prices)); // a Map, because tenants may choose any name for a model
  const providers = createProviders(config);
  const isAllowed = (name: ModelName) =>
    allowed.length === 0 || allowed.some(pattern => matches(pattern, modelText(name)));
  const chosen = config.default ?? onlyDefault(providers);
  const embedding = config.embedding && findEmbedding(config.embedding, providers);
  const priceOf = (name: ModelName) => priced.get(modelText(name)) ?? priced.get(name.model);
  const lists = new Map([...providers].map(([name, provider]) => [name, cachedList(provider, clock)]));

  const knownOf = async (provider: string): Promise<string[] | undefined> =>
    (await lists.get(provider)!())?.filter(model => isAllowed({ provider, model }));
  const list = async (): Promise<ModelName[]> => {
    const named = [chosen, fallback, ...allowed.map(parseName)].filter(one => one !== undefined);
    const served = await Promise.all(
      [...providers].map(async ([provider, { defaultModel }]) => {
        const models = (await knownOf(provider)) ?? (defaultModel === undefined ? [] : [defaultModel]);
        return models.map(model => ({ provider, model }));
      }),
    );
    const all = [...named, ...served.flat()].filter(one => providers.has(one.provider) && isAllowed(one));
    return [...new Map(all.map(one => [modelText(one), one])).values()];
  };

  return {
    async find(name) {
      const provider = providers.get(name.provider);
      return provider && isAllowed(name) ? provider.find(name.model) : undefined;
    },
    priceOf,
    limitPriceOf: name => priceOf(name) ?? (name.provider === 'openai-compatible' ? noPrice : unknownPrice),
    ...(chosen && providers.has(chosen.provider) && isAllowed(chosen) && { default: chosen }),
    ...(embedding && { embedding }),
    fallback,
    maxTokens,
    providers: [...providers.keys()],
    missing: describeMissing(config, chosen, providers, isAllowed),
    list,
    async problemWith(name) {
      const provider = providers.get(name.provider);
      if (!provider)
        return `No provider "${name.provider}" is configured. Available: ${listed([...providers.keys()])}.`;
      const known = await knownOf(name.provider);
      const isServed = known
        ? known.some(one => isSame(one, name.model)) || isNamed(name)
        : (provider.isKnown?.(name.model) ?? true);
      if (isServed && isAllowed(name)) return undefined;
      const models = (await list()).filter(one => one.provider === name.provider).map(({ model }) => model);
      return `${name.provider} has no model "${name.model}" here. Available: ${listed(models)}.`;
    },
  };

  function isNamed(name: ModelName): boolean {
    return [chosen, fallback, ...allowed.map(parseName)].some(
      one => one && modelText(one) === modelText(name),
    );
  }
}

function findEmbedding(name: ModelName, providers: ReadonlyMap<string, Provider>): Models['embedding'] {
  const provider = providers.get(name.provider);
  const find = provider?.findEmbedding?.bind(provider);
  return find && { name, find: () => find(name.model) };
}

const listed = (names: readonly string[]): string => {
  const some = names.slice(0, limits.modelsNamed);
  if (some.length === 0) return 'none';
  return some.join(', ') + (names.length > some.length ? ` and ${names.length - some.length} more` : '');
};

// Providers list dated versions, and accept the name without the date or with `latest` instead.
const isSame = (known: string, asked: string): boolean => {
  const name = asked.replace(/-latest$/, '');
  return (
    known === asked ||
    known === name ||
    (known.startsWith(`${name}-`) && /^[\d-]+$/.test(known.slice(name.length)))
  );
};

function matches(pattern: string, text: string): boolean {
  const source = pattern.split('*').map(part => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${source.join('.*')}$`).test(text);
}

const parseName = (text: string): ModelName | undefined => {
  const slash = text.indexOf('/');
  if (slash < 1 || text.includes('*')) return undefined;
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
};

function onlyDefault(providers: ReadonlyMap<string, Provider>): ModelName | undefined {
  const [only, ...others] = providers;
  if (!only || others.length > 0 || only[1].defaultModel === undefined) return undefined;
  return { provider: only[0], model: only[1].defaultModel };
}

function describeMissing(
  { setup }: ModelsConfig,
  chosen: ModelName | undefined,
  providers: ReadonlyMap<string, Provider>,
  isAllowed: (name: ModelName) => boolean,
): string | undefined {
  const where = setup ?? { provider: 'Configure a provider.', model: 'Configure a default model.' };
  const names = listed([...providers.keys()]);
  if (providers.size === 0) return `No provider of models is configured. ${where.provider}`;
  if (!chosen) return `No default model is chosen; the server has ${names}. ${where.model}`;
  if (!providers.has(chosen.provider))
    return `The default model is of ${chosen.provider}, which is not configured; the server has ${names}. ${where.model}`;
  if (!isAllowed(chosen))
    return `The default model ${modelText(chosen)} is not among the allowed ones. ${where.model}`;
  return undefined;
}

// Lists change rarely. If reading one fails, it is retried soon.
function cachedList(provider: Provider, clock: Pick<Clock, 'now'>): () => Promise<string[] | undefined> {
  let untilMs = 0;
  let list: Promise<string[] | undefined> | undefined;
  return async () => {
    if (!list || clock.now() >= untilMs) {
      const asked = provider.list();
      list = asked;
      untilMs = clock.now() + limits.modelListKeptMs;
      if ((await asked) === undefined) untilMs = clock.now() + limits.modelListRetryMs;
    }
    return list;
  };
}
