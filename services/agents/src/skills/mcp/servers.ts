import { versionMismatch } from '@stak/http';
import { findMismatch } from '@stak/json-schema';
import { cutText } from '@stak/kit';
import { maySendHeader } from '@stak/outbound';
import { type ItemOf, isRefused, write } from '@stak/table';
import { z } from 'zod';
import { createWithin } from '../../create-within.ts';
import { type Base, type Service, type SkillDeps, timestampOf } from '../../deps.ts';
import { agentErrors } from '../../errors.ts';
import * as limits from '../../limits.ts';
import { retryOnConflict } from '../../state/conflict-retry.ts';
import { OutcomeUnknown, type Skill, type SkillScope } from '../skill.ts';
import {
  describeMcpError,
  isOfRevision,
  type McpAddress,
  traceMeta,
  withMcpServer,
  withSessions,
} from './client.ts';
import { mcpServer, mcpServersOfTenant } from './tables.ts';
import { type McpTool, type Pins, pinTools, readTools, type SkippedTool, type ToolList } from './tools.ts';

export type McpServer = ItemOf<typeof mcpServer>;
export type McpDraft = { url: string; headers?: Readonly<Record<string, string>> };

const noServer = () => agentErrors.create('agents.mcp_server_not_found', 'MCP server not found.');
const sealLocation = (tenant_id: string, name: string) =>
  `conversations MCP#${tenant_id} SERVER#${name} headers`;

export const toolsOf = ({ tools }: Pick<McpServer, 'tools'>) => JSON.parse(tools) as McpTool[];
const pinsOf = ({ pins = '{}' }: Pick<McpServer, 'pins'>) => JSON.parse(pins) as Pins;
export const changedTools = (server: Pick<McpServer, 'tools'>): McpTool[] =>
  toolsOf(server).filter(({ changedFrom }) => changedFrom !== undefined);
export const skippedOf = ({ skipped }: Pick<McpServer, 'skipped'>) => JSON.parse(skipped) as SkippedTool[];

// The tools are listed before anything is stored, so that a wrong URL is reported now.
export async function putMcpServer(
  service: SkillDeps & Pick<Service, 'store' | 'clock' | 'random'>,
  tenant_id: string,
  name: string,
  draft: McpDraft,
  expected: string | undefined,
  signal: AbortSignal,
): Promise<McpServer> {
  const refusal = service.outbound.check(draft.url);
  if (refusal) throw refused(refusal.message);
  const bad = Object.keys(draft.headers ?? {}).find(header => !maySendHeader(header));
  if (bad !== undefined) throw refused(`The header ${bad} may not be sent.`);
  const { store, clock, sealer } = service;
  const known = await store.get(mcpServer, { tenant_id, name }, { consistent: true });
  if (!known) await checkCount(service, tenant_id);
  // If they are left out, they stay, as long as the URL is the same.
  const isSame = known?.url === draft.url;
  const headers = draft.headers ?? (known && isSame ? openHeaders(service, known) : {});
  const list = await listTools(service, { url: draft.url, headers }, signal);
  return retryOnConflict(service, async () => {
    const before = await store.get(mcpServer, { tenant_id, name }, { consistent: true });
    if (expected !== undefined && expected !== String(before?.version)) throw versionMismatch();
    const at = timestampOf(clock.now());
    const header_names = Object.keys(headers);
    const item = {
      tenant_id,
      name,
      url: draft.url,
      header_names,
      ...(header_names.length > 0 && {
        headers: sealer.seal(JSON.stringify(headers), sealLocation(tenant_id, name)),
      }),
      ...listed(name, list, at, before),
      created_at: before?.created_at ?? at,
      updated_at: at,
    };
    if (before) return store.put(mcpServer, item, { ifVersion: before.version });
    const made = write.put(mcpServer, item, { ifAbsent: true });
    await createWithin(service, { tenant_id, of: 'MCP servers' }, () => checkCount(service, tenant_id), made);
    return { ...item, version: 1 };
  });
}

const refused = (why: string) => agentErrors.create('agents.mcp_server_refused', why);
function listed(server: string, list: ToolList, tools_at: string, before: McpServer | undefined) {
  const earlier = { tools: before ? toolsOf(before) : [], pins: before ? pinsOf(before) : {} };
  const { tools, skipped, pins } = pinTools(server, list, earlier);
  const texts = {
    tools: JSON.stringify(tools),
    skipped: JSON.stringify(skipped),
    pins: JSON.stringify(pins),
  };
  return { ...texts, tools_at, ...(list.revision !== undefined && { revision: list.revision }) };
}

async function checkCount({ store }: Pick<Service, 'store'>, tenant_id: string): Promise<void> {
  const { items } = await store.query(mcpServersOfTenant, { tenant_id }, { limit: limits.mcpServers });
  if (items.length >= limits.mcpServers)
    throw agentErrors.create(
      'agents.too_many_skills',
      `A tenant can have at most ${limits.mcpServers} MCP servers.`,
    );
}

async function listTools(
  service: Pick<Service, 'clock' | 'mcpOutbound'>,
  address: McpAddress,
  signal: AbortSignal,
): Promise<ToolList> {
  const late = new AbortController();
  const over = new AbortController();
  service.clock.sleep(limits.mcpListMs, over.signal).then(
    () => late.abort(new Error(`it took longer than ${limits.mcpListMs} ms`)),
    () => {},
  );
  const reach = {
    outbound: service.mcpOutbound,
    signal: AbortSignal.any([signal, late.signal]),
    timeoutMs: limits.mcpListMs,
  };
  try {
    return await withMcpServer(address, reach, readTools);
  } catch (error) {
    throw refused(`The server did not say which tools it has: ${describeMcpError(error)}.`);
  } finally {
    over.abort();
  }
}

const openHeaders = ({ sealer }: Pick<Service, 'sealer'>, { tenant_id, name, headers }: McpServer) =>
  headers === undefined
    ? {}
    : (JSON.parse(sealer.openText(headers, sealLocation(tenant_id, name))) as Record<string, string>);

// Reads the list again. If that fails, the old list stays, with the reason.
export async function refreshTools(
  service: SkillDeps & Pick<Service, 'store' | 'clock'>,
  server: McpServer,
  signal: AbortSignal,
): Promise<McpServer> {
  const { tenant_id, name, url } = server;
  const at = timestampOf(service.clock.now());
  const change = await listTools(service, { url, headers: openHeaders(service, server) }, signal).then(
    list => ({ set: listed(name, list, at, server), remove: ['error'] as const }),
    error => ({ set: { tools_at: at, error: describeMcpError(error) } }),
  );
  return service.store.update(mcpServer, { tenant_id, name }, change, { ifVersion: server.version });
}

// Enables changed tools again, as an administrator has seen them: a definition that has changed since is not accepted.
export async function acceptTools(
  service: Pick<Service, 'store' | 'clock' | 'random'>,
  { tenant_id, name }: { tenant_id: string; name: string },
  accepted: readonly { name: string; hash: string }[],
): Promise<McpServer> {
  return retryOnConflict(service, async () => {
    const server = await getMcpServer(service, tenant_id, name);
    const pins = pinsOf(server);
    const hashes = new Map(accepted.map(one => [one.name, one.hash]));
    const tools = toolsOf(server);
    const stale = accepted.find(one => !tools.some(tool => tool.name === one.name && tool.hash === one.hash));
    if (stale) throw refused(`The definition of ${stale.name} is another one by now. Read the tools again.`);
    const after = tools.map(({ changedFrom, ...tool }) => {
      const { name: ofTool, hash, skill } = tool;
      const isAccepted = hash !== undefined && hashes.get(ofTool) === hash;
      if (isAccepted) pins[ofTool] = { hash, skill };
      return changedFrom === undefined || isAccepted ? tool : { ...tool, changedFrom };
    });
    const set = { tools: JSON.stringify(after), pins: JSON.stringify(pins) };
    return service.store.update(mcpServer, { tenant_id, name }, { set }, { ifVersion: server.version });
  });
}

export async function getMcpServer(
  { store }: Pick<Service, 'store'>,
  tenant_id: string,
  name: string,
): Promise<McpServer> {
  const item = await store.get(mcpServer, { tenant_id, name }, { consistent: true });
  if (!item) throw noServer();
  return item;
}

export async function deleteMcpServer(
  { store }: Pick<Service, 'store'>,
  tenant_id: string,
  name: string,
): Promise<void> {
  try {
    await store.delete(mcpServer, { tenant_id, name }, { ifPresent: true });
  } catch (error) {
    throw isRefused(error) ? noServer() : error;
  }
}

// The tools of all servers of a tenant, as they were accepted. An old list is read again in the background: no turn waits for it.
export async function readMcpSkills(service: Base & SkillDeps, tenant_id: string): Promise<Skill[]> {
  const { items } = await service.store.query(
    mcpServersOfTenant,
    { tenant_id },
    { limit: limits.mcpServers },
  );
  for (const server of items)
    if (service.clock.now() - Date.parse(server.tools_at) > limits.mcpListKeptMs)
      refreshLater(service, server);
  return items.flatMap(server =>
    toolsOf(server)
      .filter(({ changedFrom }) => changedFrom === undefined)
      .map(tool => toSkill(service, server, tool)),
  );
}

const refreshing = new WeakMap<object, Set<string>>();

function refreshLater(service: Base & SkillDeps, server: McpServer): void {
  const running = refreshing.get(service) ?? new Set();
  refreshing.set(service, running);
  const id = `${server.tenant_id} ${server.name}`;
  if (running.has(id)) return;
  running.add(id);
  refreshTools(service, server, new AbortController().signal)
    .catch(error => {
      if (!isRefused(error)) service.log.warn({ err: error, server: server.name }, 'tools were not listed');
    })
    .finally(() => running.delete(id));
}

const toSkill = (service: Base & SkillDeps, server: McpServer, tool: McpTool): Skill => ({
  name: tool.skill,
  description: tool.description,
  triggers: [],
  parameters: z.looseObject({}),
  jsonSchema: tool.parameters,
  acts: true,
  isRepeatable: tool.isRepeatable,
  timeoutMs: limits.mcpCallMs,
  async run(input, scope) {
    const mismatch = findMismatch(tool.parameters, input);
    if (mismatch) throw new Error(`invalid arguments: ${mismatch.pointer} ${mismatch.detail}`);
    return callTool(service, server, tool, input, scope);
  },
});

type Content = { type: string; text?: unknown; mimeType?: unknown; uri?: unknown };

async function callTool(
  service: Base & SkillDeps,
  server: McpServer,
  { name }: McpTool,
  input: Record<string, unknown>,
  { signal, idempotency_key }: SkillScope,
) {
  // Servers from before revisions were noted have a session.
  const { url, revision = withSessions } = server;
  const address = { url, headers: openHeaders(service, server), revision };
  const reach = { outbound: service.mcpOutbound, signal, timeoutMs: limits.mcpCallMs };
  const meta = { 'stak/idempotency_key': idempotency_key, ...traceMeta() };
  let isCalled = false; // opening the session does nothing for the user
  const result = await withMcpServer(address, reach, client => {
    isCalled = true;
    return client.callTool({ name, arguments: input, _meta: meta });
  }).catch(error => {
    if (isOfRevision(error)) refreshLater(service, server);
    const text = `the MCP server ${server.name} failed: ${describeMcpError(error)}`;
    throw isCalled && error instanceof OutcomeUnknown ? new OutcomeUnknown(text) : new Error(text);
  });
  const text = (Array.isArray(result.content) ? (result.content as Content[]) : []).map(describe).join('\n');
  if (result.isError) throw new Error(cutText(text, 500) || 'the tool failed');
  const data = result.structuredContent ?? text;
  return { data, text: text || JSON.stringify(data) };
}

// A model reads text. For anything else it gets the type.
function describe({ type, text, mimeType, uri }: Content): string {
  if (type === 'text') return String(text ?? '');
  return `[${[type, mimeType, uri].filter(one => typeof one === 'string').join(' ')}]`;
}
