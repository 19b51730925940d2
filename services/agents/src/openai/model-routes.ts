import { endpoint, json, nameSchemas, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { enteredTenant } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import { modelText } from '../models/models.ts';
import { tenantParams } from '../schema.ts';
import { agentPrefix, anyModel, listAgentNames, listModels, type OpenAiDeps } from './ask.ts';
import { base, openAi } from './chat-routes.ts';

const model = z.strictObject({
  id: z.string().describe('What a request names as its `model`'),
  object: z.literal('model').describe('Always `model`'),
  created: z.int().describe('Always 0: it is not known'),
  owned_by: z.string().describe('The provider of the model'),
});
nameSchemas({ OpenAiModel: model });

const readModels = {
  ...openAi,
  ...readsOnly,
  scope: 'read',
} as const;

const list = route({
  ...readModels,
  path: `${base}/models`,
  operationId: 'agents.listOpenAiModels',
  summary: "List the models, in OpenAI's protocol",
  description:
    '`default` is the agent of the tenant, with the model that the tenant has chosen, and `agent/…` are its other agents. A host may name every other model of the server, a user those of the tenant.',
  request: { params: tenantParams },
  responses: {
    200: json(
      z.strictObject({
        object: z.literal('list').describe('Always `list`'),
        data: z.array(model).describe('The models'),
      }),
    ),
  },
});
const get = route({
  ...readModels,
  path: `${base}/models/{model}`,
  operationId: 'agents.getOpenAiModel',
  summary: "Get a model, in OpenAI's protocol",
  description: 'Says whether a request may name this model.',
  request: {
    params: tenantParams.extend({ model: z.string().min(1).max(300).describe('The id of a model') }),
  },
  responses: { 200: json(model) },
  problems: ['agents.model_not_found'],
});

const show = (id: string, owned_by: string) => ({ id, object: 'model' as const, created: 0, owned_by });

export function createModelListRoutes(service: OpenAiDeps) {
  const read = async (...of: [Parameters<typeof listModels>[1], Parameters<typeof listModels>[2]]) => [
    show(anyModel, 'stak'),
    ...(await listAgentNames(service, of[0], of[1])).map(name => show(`${agentPrefix}${name}`, 'stak')),
    ...(await listModels(service, ...of)).map(name => show(modelText(name), name.provider)),
  ];
  return [
    endpoint(list, async c => {
      const data = await read(c.get('principal'), enteredTenant(c));
      return c.json({ object: 'list' as const, data }, 200);
    }),
    endpoint(get, async c => {
      const { model } = c.req.valid('param');
      const models = await read(c.get('principal'), enteredTenant(c));
      const found = models.find(({ id }) => id === model);
      if (!found) throw agentErrors.create('agents.model_not_found', `The model "${model}" does not exist.`);
      return c.json(found, 200);
    }),
  ] as const;
}
