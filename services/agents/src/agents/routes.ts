import { isDeepStrictEqual } from 'node:util';
import {
  answerPage,
  empty,
  endpoint,
  etagOf,
  expectedVersion,
  json,
  type PageRequest,
  pageOf,
  pageQuery,
  readsOnly,
  route,
} from '@stak/http';
import { z } from 'zod';
import { type Base, enteredTenant, type Service, type SkillDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { tenantParams } from '../schema.ts';
import { defaultAgent } from '../settings.ts';
import {
  type AgentVersion,
  definitionOf,
  differencesOf,
  getAgent,
  getVersion,
  listAgents,
  listVersions,
  type NamedAgent,
  publish,
  readSpentToday,
  removeAgent,
  saveDraft,
} from './agents.ts';
import { readDefinition } from './definition.ts';
import * as schema from './schema.ts';
import { settingsAsAgent } from './settings-agent.ts';

const base = '/v1/tenants/{tenant_id}/agents';
const one = `${base}/{name}` as const;
const common = { auth: 'account', tenant: 'path', mcp: false, tags: ['agents'] as string[] } as const;
const reads = { ...common, ...readsOnly, scope: 'read' } as const;
const writes = { ...common, reaches: 'nothing', audit: true, scope: 'admin' } as const;
const found = ['agents.agent_not_found'];

const routes = {
  list: route({
    ...reads,
    path: base,
    operationId: 'agents.listAgents',
    summary: 'List the agents of a tenant',
    description: `Returns the agents by name. \`${defaultAgent}\`, the settings of the tenant, comes first.`,
    request: { params: tenantParams, query: pageQuery() },
    responses: { 200: json(schema.agentPage) },
    problems: ['http.cursor_refused'],
  }),
  get: route({
    ...reads,
    path: one,
    operationId: 'agents.getAgent',
    summary: 'Get an agent',
    description: 'Returns the draft of an agent, and the definition that answers.',
    request: { params: schema.agentParams },
    responses: { 200: json(schema.agentShape) },
    problems: found,
  }),
  save: route({
    ...writes,
    method: 'put',
    path: one,
    operationId: 'agents.saveAgent',
    stores: 'body',
    conditional: 'optional',
    summary: 'Create an agent, or change its draft',
    description:
      'Saves the draft. Conversations are answered by the published version, until the draft is published. With `If-None-Match: *`, an existing agent is not changed.',
    request: {
      params: schema.agentParams,
      headers: z.object({
        'if-none-match': z.literal('*').optional().describe('`*` creates it only if it does not exist.'),
      }),
      body: json(schema.agentDefinition),
    },
    responses: { 200: json(schema.agentShape) },
    problems: [
      'agents.agent_exists',
      'agents.agent_refused',
      'agents.agent_is_settings',
      'agents.too_many_agents',
    ],
    limits: { bodyBytes: limits.messageBodyBytes },
  }),
  publish: route({
    ...writes,
    method: 'post',
    path: `${one}/publish`,
    operationId: 'agents.publishAgent',
    stores: 'body',
    conditional: 'optional',
    summary: 'Publish an agent, or roll it back',
    description:
      'Makes the draft a new version, which answers from the next turn on. With `version`, an earlier one answers again, and the draft stays as it is. A turn that has begun is finished by the version that it began with, but calls no skill that the published one does not have. A draft that is the newest version already is published without a new number.',
    request: { params: schema.agentParams, body: json(schema.newAgentVersion) },
    responses: { 200: json(schema.agentShape) },
    problems: [...found, 'agents.version_not_found', 'agents.agent_refused', 'agents.agent_is_settings'],
  }),
  remove: route({
    ...writes,
    method: 'delete',
    path: one,
    operationId: 'agents.deleteAgent',
    stores: 'deletes',
    summary: 'Delete an agent',
    description: `Deletes the agent with its versions. Its conversations stay, and \`${defaultAgent}\` answers in them.`,
    request: { params: schema.agentParams },
    responses: { 204: empty() },
    problems: [...found, 'agents.agent_is_settings'],
  }),
  versions: route({
    ...reads,
    path: `${one}/versions`,
    operationId: 'agents.listAgentVersions',
    summary: 'List the versions of an agent',
    description: `Returns the newest ${limits.agentVersions} versions, newest first. Earlier ones are removed.`,
    request: { params: schema.agentParams, query: pageQuery() },
    responses: { 200: json(pageOf(schema.listedVersion)) },
    problems: [...found, 'http.cursor_refused'],
  }),
  version: route({
    ...reads,
    path: `${one}/versions/{version}`,
    operationId: 'agents.getAgentVersion',
    summary: 'Get a version of an agent',
    description: 'Returns a version with its definition, which never changes.',
    request: { params: schema.agentVersionParams },
    responses: { 200: json(schema.agentVersionShape) },
    problems: [...found, 'agents.version_not_found'],
  }),
  differences: route({
    ...reads,
    path: `${one}/differences`,
    operationId: 'agents.getAgentDifferences',
    summary: 'Compare two versions of an agent',
    description: 'Returns the fields that differ, by default between the published version and the draft.',
    request: { params: schema.agentParams, query: schema.differencesQuery },
    responses: { 200: json(schema.agentDifferences) },
    problems: [...found, 'agents.version_not_found'],
  }),
};

const listed = (agent: NamedAgent) => {
  const { name, published_version = null, published_at = null, last_version, created_at, updated_at } = agent;
  const draft = readDefinition(agent.draft);
  const published = agent.published === undefined ? null : readDefinition(agent.published);
  const has_changes = published === null || !isDeepStrictEqual(draft, published);
  const about = { name, is_settings: false, published_version, published_at, last_version, has_changes };
  return { shown: { ...about, created_at, updated_at }, draft, published };
};

const withDescription = <Shown>({ shown, draft }: { shown: Shown; draft: schema.AgentDefinition }) => ({
  ...shown,
  description: draft.description,
});

const showVersion = (agent: NamedAgent, { number, note, created_at }: AgentVersion) => ({
  version: number,
  is_published: number === agent.published_version,
  note: note ?? null,
  created_at,
});

export function createAgentRoutes(service: Base & SkillDeps & Pick<Service, 'models' | 'random'>) {
  const show = async (agent: NamedAgent) => {
    const { shown, draft, published } = listed(agent);
    const spent_today_usd = (await readSpentToday(service, agent)) / limits.microsPerUsd;
    return { ...shown, draft, published, spent_today_usd };
  };
  return [
    endpoint(routes.list, async c => {
      const tenant = enteredTenant(c);
      const query = c.req.valid('query');
      const { tenant_id } = tenant;
      const read = (page: PageRequest) => listAgents(service, tenant_id, page);
      const show = (agent: NamedAgent) => withDescription(listed(agent));
      const page = await answerPage(c.get('principal'), query, read, show);
      const { draft, published: _, spent_today_usd: __, ...shown } = settingsAsAgent(tenant);
      const first = query.cursor === undefined ? [withDescription({ shown, draft })] : [];
      return c.json({ ...page, data: [...first, ...page.data] }, 200);
    }),
    endpoint(routes.get, async c => {
      const key = c.req.valid('param');
      if (key.name === defaultAgent) return c.json(settingsAsAgent(enteredTenant(c)), 200);
      const agent = await getAgent(service, key);
      c.header('ETag', etagOf(agent.version));
      return c.json(await show(agent), 200);
    }),
    endpoint(routes.save, async c => {
      const isNew = c.req.header('if-none-match') !== undefined;
      const saving = { expected: expectedVersion(c), isNew };
      const agent = await saveDraft(service, c.req.valid('param'), c.req.valid('json'), saving);
      c.header('ETag', etagOf(agent.version));
      return c.json(await show(agent), 200);
    }),
    endpoint(routes.publish, async c => {
      const publication = c.req.valid('json');
      const agent = await publish(service, c.req.valid('param'), publication, expectedVersion(c));
      c.header('ETag', etagOf(agent.version));
      return c.json(await show(agent), 200);
    }),
    endpoint(routes.remove, async c => {
      await removeAgent(service, c.req.valid('param'));
      return c.body(null, 204);
    }),
    endpoint(routes.versions, async c => {
      const agent = await getAgent(service, c.req.valid('param'));
      const read = (page: PageRequest) => listVersions(service, agent, page);
      const show = (version: AgentVersion) => showVersion(agent, version);
      return c.json(await answerPage(c.get('principal'), c.req.valid('query'), read, show), 200);
    }),
    endpoint(routes.version, async c => {
      const { version: number, ...key } = c.req.valid('param');
      const agent = await getAgent(service, key);
      const version = await getVersion(service, key, number);
      const definition = readDefinition(version.definition);
      return c.json({ ...showVersion(agent, version), definition }, 200);
    }),
    endpoint(routes.differences, async c => {
      const agent = await getAgent(service, c.req.valid('param'));
      const { to, from = agent.published_version } = c.req.valid('query');
      const before = from === undefined ? undefined : await definitionOf(service, agent, from);
      const after = await definitionOf(service, agent, to);
      return c.json({ from: from ?? null, to, data: differencesOf(before, after) }, 200);
    }),
  ] as const;
}
