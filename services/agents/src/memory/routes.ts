import {
  answerPage,
  empty,
  endpoint,
  etagOf,
  expectedVersion,
  json,
  type PageRequest,
  type PrincipalOf,
  pageOf,
  pageQuery,
  readsOnly,
  route,
} from '@stak/http';
import { type Base, type Service, timestampOf } from '../deps.ts';
import * as schema from '../schema.ts';
import { resolveUser } from '../state/access.ts';
import {
  allowMemory,
  changeMemory,
  declineMemory,
  deleteMemory,
  factsOf,
  hasDeclined,
  type MemoryItem,
  type Person,
  readSummary,
  writeSummary,
} from './memory.ts';
import { memoriesOfUser } from './tables.ts';

const user = {
  auth: 'user',
  endUserScope: 'agents:chat',
  tags: ['agents'] as string[],
  tenant: 'path',
  mcp: false,
} as const;
const problems = ['agents.user_not_found'];
const base = '/v1/tenants/{tenant_id}/users/{user_id}/memory';
const one = `${base}/{session_id}` as const;
const params = schema.tenantParams.extend({ user_id: schema.userId });
const itemParams = params.extend({ session_id: schema.conversationId });

const routes = {
  status: route({
    ...user,
    ...readsOnly,
    path: `${base}-settings`,
    operationId: 'agents.getMemorySettings',
    scope: 'read',
    summary: 'Get the memory settings and summary of a user',
    description: 'Use `me` for the calling end user.',
    request: { params },
    responses: { 200: json(schema.memoryStatus) },
    problems,
  }),
  change: route({
    ...user,
    method: 'patch',
    path: `${base}-settings`,
    operationId: 'agents.changeMemorySettings',
    reaches: 'nothing',
    audit: true,
    stores: 'edit',
    scope: 'write',
    summary: 'Opt out of being remembered, or edit the summary',
    description: 'Opting out deletes everything remembered at once.',
    request: { params, body: json(schema.memoryChange) },
    responses: { 200: json(schema.memoryStatus) },
    problems: [...problems, 'agents.memory_declined'],
  }),
  list: route({
    ...user,
    ...readsOnly,
    path: base,
    operationId: 'agents.listMemory',
    mcp: 'reads',
    scope: 'read',
    summary: 'List what is remembered about a user',
    description: 'Returns summaries and facts that are remembered of the user.',
    request: { params, query: pageQuery() },
    responses: { 200: json(pageOf(schema.memoryShape)) },
    problems: [...problems, 'http.cursor_refused'],
  }),
  edit: route({
    ...user,
    method: 'patch',
    path: one,
    operationId: 'agents.editMemory',
    reaches: 'nothing',
    audit: true,
    stores: 'body',
    scope: 'write',
    conditional: 'optional',
    summary: 'Edit what is remembered from a conversation',
    description:
      'Creates the memory if there is none. Facts that you leave out are forgotten. Without facts and summary, the whole memory of the conversation is forgotten.',
    request: { params: itemParams, body: json(schema.memoryPatch) },
    responses: { 200: json(schema.memoryShape) },
    problems: [...problems, 'agents.memory_not_found', 'agents.memory_declined'],
  }),
  remove: route({
    ...user,
    method: 'delete',
    path: one,
    operationId: 'agents.deleteMemory',
    reaches: 'nothing',
    audit: true,
    stores: 'deletes',
    scope: 'write',
    summary: 'Forget what is remembered from a conversation',
    description: 'Deletes what is remembered from one conversation.',
    request: { params: itemParams },
    responses: { 204: empty() },
    problems: [...problems, 'agents.memory_not_found'],
  }),
};

const show = (item: MemoryItem) => ({
  session_id: item.session_id,
  summary: item.summary ?? null,
  key_facts: factsOf(item).map(({ seq = null, supersedes = null, ...fact }) => ({
    ...fact,
    seq,
    supersedes,
  })),
  created_at: item.created_at,
  updated_at: item.updated_at,
});

export function createMemoryRoutes(service: Base & Pick<Service, 'random' | 'sealer'>) {
  const personOf = (
    caller: PrincipalOf<'user'>,
    { tenant_id, user_id }: { tenant_id: string; user_id: string },
  ): Person => ({ tenant_id, user_id: resolveUser(caller, user_id)! });
  const status = async (person: Person) => ({
    is_declined: await hasDeclined(service, person),
    ...(await readSummary(service, person)),
  });

  return [
    endpoint(routes.status, async c =>
      c.json(await status(personOf(c.get('principal'), c.req.valid('param'))), 200),
    ),
    endpoint(routes.change, async c => {
      const person = personOf(c.get('principal'), c.req.valid('param'));
      const { is_declined, memory_summary } = c.req.valid('json');
      if (is_declined === false) await allowMemory(service, person);
      if (memory_summary !== undefined) await writeSummary(service, person, memory_summary);
      if (is_declined === true) await declineMemory(service, person);
      return c.json(await status(person), 200);
    }),
    endpoint(routes.list, async c => {
      const caller = c.get('principal');
      const person = personOf(caller, c.req.valid('param'));
      const read = (page: PageRequest) => service.store.query(memoriesOfUser, person, page);
      return c.json(await answerPage(caller, c.req.valid('query'), read, show), 200);
    }),
    endpoint(routes.edit, async c => {
      const { session_id } = c.req.valid('param');
      const person = personOf(c.get('principal'), c.req.valid('param'));
      const { summary, key_facts } = c.req.valid('json');
      const created_at = timestampOf(service.clock.now());
      const item = await changeMemory(
        service,
        { ...person, session_id },
        before => ({
          summary,
          facts: key_facts?.map(({ fact_id, fact }) => {
            const known = before && factsOf(before).find(one => one.fact_id === fact_id);
            if (known) return known.fact === fact ? known : { ...known, fact, source: 'edited' };
            return { fact_id: service.ids.next('fact'), fact, created_at, source: 'edited' };
          }),
        }),
        expectedVersion(c),
      );
      c.header('ETag', etagOf(item.version));
      return c.json(show(item), 200);
    }),
    endpoint(routes.remove, async c => {
      const { session_id } = c.req.valid('param');
      const person = personOf(c.get('principal'), c.req.valid('param'));
      await deleteMemory(service, { ...person, session_id });
      return c.body(null, 204);
    }),
  ] as const;
}
