import { endpoint, json, nameSchemas, readsOnly, route } from '@stak/http';
import { tableErrors } from '@stak/table';
import { z } from 'zod';
import type { Base, ModelDeps } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { defaultPrompt } from '../settings.ts';
import { describeFailure } from './ask-model.ts';
import { createBudget } from './budget.ts';
import { attemptAnswer, type Prompt, withoutPrompt } from './model-call.ts';
import { type ModelName, modelText } from './models.ts';

const tags = ['agents'] as string[];
const name = z.string().min(1).max(300);
const modelShape = z.strictObject({
  provider: z.string().describe('The provider of the model.'),
  model: z.string().describe('The model, by the provider’s own name.'),
  is_default: z.boolean().describe('Whether tenants that have not chosen a model use it.'),
  price: z
    .strictObject({
      input: z.number().describe('The price of a million tokens that it reads.'),
      output: z.number().describe('The price of a million tokens that it writes.'),
    })
    .nullable()
    .describe('US dollars per million tokens; null if the operator has set no price'),
});

const modelTest = z.strictObject({
  provider: name.optional().describe('The provider of the model.'),
  model: name.optional().describe('The model, by the provider’s own name.'),
  instructions: z
    .string()
    .max(limits.promptChars)
    .optional()
    .describe('What the model reads first; empty for the standard ones'),
  message: z
    .string()
    .min(1)
    .max(limits.contentChars)
    .optional()
    .describe('The question; a greeting if absent.'),
});

nameSchemas({ Model: modelShape });

const routes = {
  list: route({
    ...readsOnly,
    auth: 'account',
    tags,
    path: '/v1/models',
    operationId: 'agents.listModels',
    tenant: 'none',
    mcp: 'reads',
    scope: 'read',
    summary: 'List the models that tenants can choose',
    description:
      'Includes the lists of providers that offer one. `default` is used by tenants that have not chosen a model. If there is no default, `missing` says why and where to set one.',
    responses: {
      200: json(
        z.strictObject({
          data: z.array(modelShape).describe('The models.'),
          default: z.string().nullable().describe('The model of tenants that have not chosen one.'),
          missing: z.string().nullable().describe('Why there is no default, and where to set one.'),
        }),
      ),
    },
    problems: [],
  }),
  test: route({
    auth: 'account',
    tags,
    method: 'post',
    path: '/v1/models/test',
    operationId: 'agents.testModel',
    reaches: 'model',
    audit: true,
    stores: 'body',
    tenant: 'none',
    mcp: false,
    scope: 'admin',
    summary: 'Test a model with one question',
    description:
      'Returns the answer to `message`, or to a greeting. `instructions` are tried as they would be saved in the settings of a tenant; no skill is called and nothing is kept. The cost counts against the daily spending limit of the account.',
    request: { body: json(modelTest) },
    responses: {
      200: json(
        z.strictObject({
          provider: z.string().describe('The provider of the model.'),
          model: z.string().describe('The model, by the provider’s own name.'),
          answer: z.string().describe('What the model answered.'),
          usage: z
            .strictObject({
              input_tokens: z.int().describe('Tokens that the model read.'),
              output_tokens: z.int().describe('Tokens that the model wrote.'),
            })
            .describe('The tokens that it took.'),
          cost_usd: z.number().describe('Cost in US dollars.'),
          duration_ms: z.int().describe('How long it took, in milliseconds.'),
        }),
      ),
    },
    problems: ['agents.no_model', 'agents.model_failed', 'agents.spend_exceeded'],
  }),
};

export const createModelRoutes = (service: Base & ModelDeps) =>
  [
    endpoint(routes.list, async c => {
      const { models } = service;
      const chosen = models?.default && modelText(models.default);
      const data = ((await models?.list?.()) ?? []).map(one => ({
        ...one,
        is_default: modelText(one) === chosen,
        price: models!.priceOf(one) ?? null,
      }));
      return c.json({ data, default: chosen ?? null, missing: models?.missing ?? null }, 200);
    }),
    endpoint(routes.test, async c => {
      const { provider, model, ...question } = c.req.valid('json');
      const chosen = service.models?.default;
      const asked = {
        provider: provider ?? chosen?.provider ?? '',
        model: model ?? (provider === undefined || provider === chosen?.provider ? chosen?.model : '') ?? '',
      };
      const { accountId } = c.get('principal');
      return c.json(await testModel(service, asked, promptOf(question), accountId, c.req.raw.signal), 200);
    }),
  ] as const;

type Question = { instructions?: string; message?: string };

const promptOf = ({ instructions, message }: Question): Prompt => {
  if (instructions === undefined && message === undefined)
    return {
      system: 'Answer in one short sentence.',
      messages: [{ role: 'user', content: 'Say hello, and which model you are.' }],
      maxOutputTokens: limits.modelTestTokens,
    };
  return {
    system: instructions || defaultPrompt,
    messages: [{ role: 'user', content: message ?? 'Hello' }],
    maxOutputTokens: limits.promptTestTokens,
  };
};

// Says what a status of a provider usually means. Its own message is not shown: it may quote the operator's key or
// reveal the provider's address, and the caller may be a customer.
const hints = new Map([
  [401, ' It refused the API key of this server.'],
  [403, ' The API key of this server may not use this model.'],
  [404, ' It has no such model.'],
  [429, ' It takes no more requests for now, or its credit is used up.'],
]);

async function testModel(
  service: Base & ModelDeps,
  name: ModelName,
  prompt: Prompt,
  account_id: string,
  signal: AbortSignal,
) {
  const { models, clock, log } = service;
  const found = name.provider === '' ? undefined : await models?.find(name);
  if (!models || !found) {
    const problem = name.provider === '' ? undefined : await models?.problemWith?.(name);
    const missing = problem ?? models?.missing ?? 'No provider of models is configured.';
    throw agentErrors.create('agents.no_model', missing);
  }
  const accountUsd = await service.spendPerDayUsd(account_id);
  const budget = createBudget(service, { account_id }, { tenantUsd: undefined, accountUsd }, models);
  const startMs = clock.now();
  try {
    const { text } = await attemptAnswer({
      clock,
      name,
      model: found,
      prompt,
      tools: {},
      stepsLeft: 1,
      toolBytes: 0,
      budget,
      signal,
      onText() {},
    });
    const { input_tokens, output_tokens, cost_micros } = budget.used;
    return {
      ...name,
      answer: text,
      usage: { input_tokens, output_tokens },
      cost_usd: cost_micros / limits.microsPerUsd,
      duration_ms: Math.round(clock.now() - startMs),
    };
  } catch (error) {
    if (agentErrors.includes(error) || tableErrors.includes(error)) throw error;
    log.warn({ err: withoutPrompt(error), ...name }, 'a model did not answer');
    const hint = hints.get(Object(error).statusCode) ?? '';
    const detail = `${modelText(name)} did not answer: ${describeFailure(error)}${hint}`;
    throw agentErrors.create('agents.model_failed', detail);
  } finally {
    await budget.settle();
  }
}
