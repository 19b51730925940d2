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
import type { Service, SkillDeps } from '../../deps.ts';
import { tenantParams } from '../../schema.ts';
import * as schema from '../schema.ts';
import {
  acceptTools,
  deleteMcpServer,
  getMcpServer,
  type McpServer,
  putMcpServer,
  refreshTools,
  skippedOf,
  toolsOf,
} from './servers.ts';
import { mcpServersOfTenant } from './tables.ts';

const own = { auth: 'account', tags: ['agents'] as string[], tenant: 'path', mcp: false } as const;
const base = '/v1/tenants/{tenant_id}/mcp-servers';
const params = tenantParams.extend({ name: schema.mcpServerName });
const onePath = `${base}/{name}` as const;
const found = ['agents.mcp_server_not_found'];

const routes = {
  list: route({
    ...own,
    ...readsOnly,
    path: base,
    operationId: 'agents.listMcpServers',
    scope: 'read',
    summary: 'List the MCP servers of a tenant',
    description: 'Returns the MCP servers and the tools that each of them has.',
    request: { params: tenantParams, query: pageQuery() },
    responses: { 200: json(pageOf(schema.mcpServerShape)) },
  }),
  get: route({
    ...own,
    ...readsOnly,
    path: onePath,
    operationId: 'agents.getMcpServer',
    scope: 'read',
    summary: 'Get an MCP server and its tools',
    description: 'Returns how the MCP server is registered, and which tools it has.',
    request: { params },
    responses: { 200: json(schema.mcpServerShape) },
    problems: found,
  }),
  put: route({
    ...own,
    method: 'put',
    path: onePath,
    operationId: 'agents.putMcpServer',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'admin',
    conditional: 'optional',
    summary: 'Create or update an MCP server',
    description:
      'Uses Streamable HTTP. Lists the tools of the server first; if it does not respond, the request is refused. Each tool becomes the skill `mcp_{server}_{tool}`. Enable it by adding that name to `enabled_skills` in the settings. It needs an approval unless `skill_approvals` says otherwise. Headers are stored encrypted and never returned. If you leave them out and keep the URL, they stay as they are.',
    request: { params, body: json(schema.mcpServerDraft) },
    responses: { 200: json(schema.mcpServerShape) },
    problems: ['agents.mcp_server_refused', 'agents.too_many_skills'],
  }),
  refresh: route({
    ...own,
    method: 'post',
    path: `${onePath}/refresh`,
    operationId: 'agents.refreshMcpServer',
    reaches: 'outside',
    audit: true,
    stores: 'body',
    scope: 'write',
    summary: 'Refresh the tools of an MCP server',
    description:
      'The list is refreshed once an hour while the tools are in use. If the server does not respond, the previous list stays and `error` says why. A tool whose definition has changed is disabled until it is accepted.',
    request: { params },
    responses: { 200: json(schema.mcpServerShape) },
    problems: found,
  }),
  accept: route({
    ...own,
    method: 'post',
    path: `${onePath}/accept`,
    operationId: 'agents.acceptMcpTools',
    reaches: 'nothing',
    audit: true,
    stores: 'edit',
    scope: 'admin',
    summary: 'Accept the changed tools of an MCP server',
    description:
      'A tool whose description, parameters or hints change is disabled until its new definition is accepted. Send the `hash` of each tool as it was listed; if the definition has changed since, the request is refused.',
    request: { params, body: json(schema.acceptedTools) },
    responses: { 200: json(schema.mcpServerShape) },
    problems: [...found, 'agents.mcp_server_refused'],
  }),
  remove: route({
    ...own,
    method: 'delete',
    path: onePath,
    operationId: 'agents.deleteMcpServer',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'admin',
    summary: 'Remove an MCP server',
    description: 'Removes the MCP server. Its tools are no longer skills.',
    request: { params },
    responses: { 204: empty() },
    problems: found,
  }),
};

const show = (server: McpServer) => ({
  name: server.name,
  url: server.url,
  header_names: server.header_names,
  tools: toolsOf(server).map(({ name, skill, description, hash = '', changedFrom }) => ({
    ...{ name, skill, description, hash },
    is_changed: changedFrom !== undefined,
    accepted_description: changedFrom ?? null,
  })),
  skipped: skippedOf(server),
  protocol_version: server.revision ?? null,
  tools_at: server.tools_at,
  error: server.error ?? null,
  created_at: server.created_at,
  updated_at: server.updated_at,
});

export const createMcpRoutes = (service: SkillDeps & Pick<Service, 'store' | 'clock' | 'random'>) =>
  [
    endpoint(routes.list, async c => {
      const caller = c.get('principal');
      const { tenant_id } = c.req.valid('param');
      const read = (page: PageRequest) => service.store.query(mcpServersOfTenant, { tenant_id }, page);
      return c.json(await answerPage(caller, c.req.valid('query'), read, show), 200);
    }),
    endpoint(routes.get, async c => {
      const { tenant_id, name } = c.req.valid('param');
      const server = await getMcpServer(service, tenant_id, name);
      c.header('ETag', etagOf(server.version));
      return c.json(show(server), 200);
    }),
    endpoint(routes.put, async c => {
      const { tenant_id, name } = c.req.valid('param');
      const draft = c.req.valid('json');
      const { signal } = c.req.raw;
      const server = await putMcpServer(service, tenant_id, name, draft, expectedVersion(c), signal);
      c.header('ETag', etagOf(server.version));
      return c.json(show(server), 200);
    }),
    endpoint(routes.refresh, async c => {
      const { tenant_id, name } = c.req.valid('param');
      const server = await getMcpServer(service, tenant_id, name);
      return c.json(show(await refreshTools(service, server, c.req.raw.signal)), 200);
    }),
    endpoint(routes.accept, async c => {
      const { tenant_id, name } = c.req.valid('param');
      const server = await acceptTools(service, { tenant_id, name }, c.req.valid('json').tools);
      c.header('ETag', etagOf(server.version));
      return c.json(show(server), 200);
    }),
    endpoint(routes.remove, async c => {
      const { tenant_id, name } = c.req.valid('param');
      await deleteMcpServer(service, tenant_id, name);
      return c.body(null, 204);
    }),
  ] as const;
