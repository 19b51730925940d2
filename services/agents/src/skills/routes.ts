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
import { manageScope } from '@stak/tenants';
import { z } from 'zod';
import { type Base, enteredTenant, type Service, type SkillDeps } from '../deps.ts';
import { tenantParams, usageQuery, usageShape } from '../schema.ts';
import { enabledNames, readAgentSettings } from '../settings.ts';
import { resolveUser } from '../state/access.ts';
import { readUsage } from '../usage/usage.ts';
import {
  type CustomSkill,
  deleteCustomSkill,
  getCustomSkill,
  putCustomSkill,
  readCustomSkills,
  testCustomSkill,
} from './custom-skills.ts';
import { readMcpSkills } from './mcp/servers.ts';
import * as schema from './schema.ts';
import { approvalOf, type Skill } from './skill.ts';
import { skillsOfTenant } from './tables.ts';

const tags = ['agents'] as string[];
const common = { tenant: 'path', mcp: false, tags } as const;
const base = '/v1/tenants/{tenant_id}';
const skillParams = tenantParams.extend({ name: schema.skillName.describe('The name of the skill.') });
const onePath = `${base}/custom-skills/{name}` as const;

const routes = {
  usage: route({
    ...common,
    ...readsOnly,
    auth: 'user',
    endUserScope: 'agents:chat',
    path: `${base}/agent-usage`,
    operationId: 'agents.getUsage',
    scope: 'read',
    summary: 'Get messages, tokens and cost by day',
    description: 'End users get their own; hosts get those of the tenant, or of one user.',
    request: { params: tenantParams, query: usageQuery },
    responses: { 200: json(usageShape) },
    problems: ['agents.user_not_found'],
  }),
  tenantUsage: route({
    ...common,
    ...readsOnly,
    auth: 'user',
    endUserScope: manageScope,
    path: `${base}/usage`,
    operationId: 'agents.getTenantUsage',
    scope: 'read',
    summary: 'Get messages, tokens and cost of the whole tenant by day',
    description: 'For the account and the admins of the tenant.',
    request: { params: tenantParams, query: usageQuery.omit({ user_id: true }) },
    responses: { 200: json(usageShape) },
  }),
  skills: route({
    ...common,
    ...readsOnly,
    auth: 'user',
    endUserScope: 'agents:chat',
    path: `${base}/skills`,
    operationId: 'agents.listSkills',
    mcp: 'reads',
    scope: 'read',
    summary: 'List skills',
    description: 'Returns the built-in and custom skills and which of them are enabled.',
    request: { params: tenantParams },
    responses: { 200: json(z.strictObject({ data: z.array(schema.skillShape).describe('The skills.') })) },
  }),
  customSkills: route({
    ...common,
    ...readsOnly,
    auth: 'account',
    path: `${base}/custom-skills`,
    operationId: 'agents.listCustomSkills',
    scope: 'read',
    summary: 'List custom skills',
    description: 'Returns the skills that the tenant serves at its own addresses.',
    request: { params: tenantParams, query: pageQuery() },
    responses: { 200: json(pageOf(schema.customSkillShape)) },
  }),
  getSkill: route({
    ...common,
    ...readsOnly,
    auth: 'account',
    path: onePath,
    operationId: 'agents.getCustomSkill',
    scope: 'read',
    summary: 'Get a custom skill',
    description: 'Returns how a custom skill is registered.',
    request: { params: skillParams },
    responses: { 200: json(schema.customSkillShape) },
    problems: ['agents.skill_not_found'],
  }),
  putSkill: route({
    ...common,
    auth: 'account',
    method: 'put',
    path: onePath,
    operationId: 'agents.putCustomSkill',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'admin',
    conditional: 'optional',
    summary: 'Create or update a custom skill',
    description:
      'A custom skill is an HTTP endpoint of the tenant. It is called by POST with `{skill, arguments, conversation_id, user_id}`, signed as in Standard Webhooks. Enable it by adding its name to `custom_skills` in the settings. With `If-None-Match: *`, an existing skill is not changed.',
    request: {
      params: skillParams,
      headers: z.object({
        'if-none-match': z.literal('*').optional().describe('`*` creates it only if it does not exist.'),
      }),
      body: json(schema.skillDraft),
    },
    responses: { 200: json(schema.customSkillShape) },
    problems: [
      'agents.skill_exists',
      'agents.skill_refused',
      'agents.skill_name_taken',
      'agents.too_many_skills',
    ],
  }),
  testSkill: route({
    ...common,
    auth: 'account',
    method: 'post',
    path: `${onePath}/test`,
    operationId: 'agents.testCustomSkill',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'admin',
    summary: 'Call a custom skill once',
    description:
      'Calls the endpoint as the agent would, signed and with `conversation_id` `test`, and returns what it answered. It belongs to no conversation and asks no model. With `draft`, it calls what is about to be stored, signed with the secret of the skill. A skill that is not stored yet has no secret: its draft is signed with one that is used once and not shown.',
    request: { params: skillParams, body: json(schema.skillTest) },
    responses: { 200: json(schema.skillTestResult) },
    problems: ['agents.skill_not_found', 'agents.skill_refused', 'agents.skill_name_taken'],
  }),
  deleteSkill: route({
    ...common,
    auth: 'account',
    method: 'delete',
    path: onePath,
    operationId: 'agents.deleteCustomSkill',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'admin',
    summary: 'Remove a custom skill',
    description: 'Removes a custom skill from the tenant.',
    request: { params: skillParams },
    responses: { 204: empty() },
    problems: ['agents.skill_not_found'],
  }),
};

const show = ({ tenant_id: _, secret: __, version: ___, parameters, ...skill }: CustomSkill) => ({
  ...skill,
  parameters: JSON.parse(parameters) as Record<string, unknown>,
});

export const createSkillRoutes = (service: Base & SkillDeps & Pick<Service, 'random'>) =>
  [
    endpoint(routes.usage, async c => {
      const caller = c.get('principal');
      const { tenant_id, settings } = enteredTenant(c);
      const { user_id, ...range } = c.req.valid('query');
      const usage = await readUsage(service, tenant_id, resolveUser(caller, user_id), range);
      const { messages_per_day, messages_per_user_per_day = null } = readAgentSettings(settings);
      const limit_per_day = usage.user_id === null ? messages_per_day : messages_per_user_per_day;
      return c.json({ ...usage, limit_per_day }, 200);
    }),
    endpoint(routes.tenantUsage, async c => {
      const { tenant_id, settings } = enteredTenant(c);
      const usage = await readUsage(service, tenant_id, undefined, c.req.valid('query'));
      return c.json({ ...usage, limit_per_day: readAgentSettings(settings).messages_per_day }, 200);
    }),
    endpoint(routes.skills, async c => {
      const tenant = enteredTenant(c);
      const names = enabledNames(tenant.settings);
      const { skill_approvals } = readAgentSettings(tenant.settings);
      const listed = (is_custom: boolean) => (skill: Skill) => ({
        name: skill.name,
        description: skill.description,
        is_enabled: names.has(skill.name),
        is_custom,
        approval: approvalOf(skill, skill_approvals),
      });
      const custom = await readCustomSkills(service, tenant.tenant_id);
      const mcp = await readMcpSkills(service, tenant.tenant_id);
      return c.json(
        { data: [...service.skills.map(listed(false)), ...[...custom, ...mcp].map(listed(true))] },
        200,
      );
    }),
    endpoint(routes.customSkills, async c => {
      const caller = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const read = (page: PageRequest) => service.store.query(skillsOfTenant, { tenant_id }, page);
      return c.json(await answerPage(caller, c.req.valid('query'), read, show), 200);
    }),
    endpoint(routes.getSkill, async c => {
      const { name } = c.req.valid('param');
      const { tenant_id } = c.req.valid('param');
      const skill = await getCustomSkill(service, tenant_id, name);
      c.header('ETag', etagOf(skill.version));
      return c.json(show(skill), 200);
    }),
    endpoint(routes.putSkill, async c => {
      const { name } = c.req.valid('param');
      const { tenant_id } = c.req.valid('param');
      const draft = c.req.valid('json');
      const isNew = c.req.header('if-none-match') !== undefined;
      const { item, secret } = await putCustomSkill(service, tenant_id, name, draft, {
        expected: expectedVersion(c),
        isNew,
      });
      c.header('ETag', etagOf(item.version));
      return c.json({ ...show(item), ...(secret && { secret }) }, 200);
    }),
    endpoint(routes.testSkill, async c => {
      const caller = c.get('principal');
      const { name } = c.req.valid('param');
      const { tenant_id } = c.req.valid('param');
      const whose = { tenant_id, account_id: caller.accountId };
      const trial = c.req.valid('json');
      return c.json(await testCustomSkill(service, whose, name, trial, c.req.raw.signal), 200);
    }),
    endpoint(routes.deleteSkill, async c => {
      const { tenant_id, name } = c.req.valid('param');
      await deleteCustomSkill(service, tenant_id, name);
      return c.body(null, 204);
    }),
  ] as const;
