import { setTimeout } from 'node:timers/promises';
import { createEngine, createHttpServer } from '@stak/engine';
import {
  type AnyEndpoint,
  type AuditLine,
  createApi,
  createMemoryIdempotency,
  type Principal,
  unguarded,
  type WriteAudit,
  withProblems,
} from '@stak/http';
import { createIds, createLogger, createSealer, type ManualClock, manualClock } from '@stak/kit';
import { createOutbound } from '@stak/outbound';
import { type ControlPlane, createStore, createTables, type DynamoClient, tableErrors } from '@stak/table';
import { awsClient } from '@stak/table/aws';
import {
  defaultSettings,
  type EnteredTenant,
  tenantErrors,
  tenantProblems,
  tenantsTable,
} from '@stak/tenants';
import { type Agents, type AgentsDeps, conversationsTable, createAgents } from '../src/index.ts';

export type Target = { client: DynamoClient; control: ControlPlane; close(): Promise<void> };

async function embedded(): Promise<Target> {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  return { client: engine.client, control: engine, close: () => engine.close() };
}

async function overTheSdk(): Promise<Target> {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  const server = createHttpServer(engine, { port: 0 });
  const { url } = await server.listen();
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const client = awsClient({ region: 'us-east-1', endpoint: url, credentials });
  return {
    client,
    control: client,
    async close() {
      client.close();
      await server.close();
      await engine.close();
    },
  };
}

export const targets = { embedded, 'over the AWS SDK': overTheSdk };

const account = (accountId: string, scope: 'admin' | 'write' = 'admin'): Principal => ({
  kind: 'account',
  accountId,
  scope,
  via: 'api_key',
  credentialId: 'key',
});
const user = (tenantId: string, userId: string, scope = 'write'): Principal => ({
  kind: 'endUser',
  tenantId,
  userId,
  scope: scope.replaceAll('.', ':').replaceAll('+', ' '),
});

// `acme` is the host of that tenant, `acme/write` the host with a key of that scope, `acme~ann` one of its users, `acme~ann~agents.chat+tasks.read` with a token of these scopes.
function principalOf(token: string): Principal | undefined {
  const [tenant, name, scope] = token.split('~') as [string, string?, string?];
  if (name !== undefined) return user(tenant, name, scope);
  const [host, scopeOfKey] = tenant.split('/');
  return token === 'nobody' ? undefined : account(`usr_${host}`, scopeOfKey === 'write' ? 'write' : 'admin');
}

export type Call = RequestInit & { as?: string; send?: unknown; ifMatch?: string; key?: string };
// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an answer, it names itself.
type Answer = { status: number; body: any; etag: string; headers: Headers };

type Tenant = { status: EnteredTenant['status']; settings: Record<string, unknown> };
export type Fixture = {
  agents: Agents;
  clock: ManualClock;
  target: Target;
  lines: string[];
  audited: (AuditLine & { accountId: string })[];
  tenants: Map<string, Tenant>;
  claims: Map<string, string>; // `slack#T1` → tenant
  identities: Map<string, string>; // `acme#slack#U1` → user
  app: ReturnType<typeof createApi>['app'];
  routes: ReturnType<typeof createApi>['routes'];
  call(method: string, path: string, init?: Call): Promise<Answer>;
};

export type Options = Partial<AgentsDeps> & { client?: DynamoClient; clock?: ManualClock };

// One process: its own memory and clock, over tables it may share with others.
export function openProcess(target: Target, options: Options = {}): Fixture {
  const { clock = manualClock(), client = target.client, ...given } = options;
  const lines: string[] = [];
  const audited: Fixture['audited'] = [];
  const log = createLogger({ clock, destination: { write: line => void lines.push(line) } });
  const tenants = new Map<string, Tenant>([
    ['acme', { status: 'active', settings: {} }],
    ['globex', { status: 'active', settings: {} }],
  ]);
  const claims = new Map<string, string>();
  const identities = new Map<string, string>();
  const entered = (tenant_id: string): EnteredTenant => {
    const { status, settings } = tenants.get(tenant_id)!;
    return {
      tenant_id,
      account_id: `usr_${tenant_id}`,
      name: tenant_id,
      status,
      settings: { ...defaultSettings, ...settings },
      settings_version: 1,
      created_at: '',
      updated_at: '',
      version: 1,
    };
  };
  const admit = (tenant_id: string) => {
    if (tenants.get(tenant_id)!.status === 'suspended')
      throw tenantErrors.create('tenants.suspended', 'The tenant is suspended.');
    return entered(tenant_id);
  };
  const enterTenant = async (principal: Principal, tenantId: string): Promise<EnteredTenant> => {
    const owner = principal.kind === 'account' ? principal.accountId.slice('usr_'.length) : undefined;
    const of = principal.kind === 'endUser' ? principal.tenantId : owner;
    if (of !== tenantId || !tenants.has(tenantId))
      throw tenantErrors.create('tenants.not_found', 'There is no such tenant.');
    return admit(tenantId);
  };
  const audit: WriteAudit = async (accountId, line) => void audited.push({ accountId, ...line });
  const agents = createAgents({
    store: createStore({ client, clock, random: () => 0 }),
    clock,
    ids: createIds({ clock }),
    log,
    random: () => 0,
    isStoreLocal: !('mayLoseAnswers' in target.client),
    sealer: createSealer({ keys: [{ id: 'k1', secret: 'a secret of these tests' }] }),
    outbound: createOutbound({ allow: ['127.0.0.0/8'] }),
    enterTenant,
    async resolveChannel(type, channelId) {
      const owner = claims.get(`${type}#${channelId}`);
      if (owner === undefined)
        throw tenantErrors.create('tenants.channel_not_found', 'No tenant has this channel.');
      return admit(owner);
    },
    findChannelUser: async (tenantId, channel, identity) =>
      identities.get(`${tenantId}#${channel}#${identity}`),
    audit,
    ...given,
  });
  const { app, routes } = createApi({
    info: { title: 'Agents', version: '1' },
    endpoints: withProblems(agents.api as readonly AnyEndpoint[], ['table.busy']),
    guards: { ...unguarded, enterTenant, problemsOf: tenantProblems },
    errors: [agents.errors, tableErrors, tenantErrors],
    clock,
    log,
    idempotency: createMemoryIdempotency({ clock }),
    authenticate: async ({ token }) => principalOf(token),
  });
  const call = async (method: string, path: string, init: Call = {}): Promise<Answer> => {
    const { as = 'acme', send, ifMatch, key, ...rest } = init;
    const headers = new Headers(rest.headers);
    if (as !== '') headers.set('Authorization', `Bearer ${as}`);
    if (send !== undefined) headers.set('Content-Type', 'application/json');
    if (ifMatch !== undefined) headers.set('If-Match', ifMatch);
    if (key !== undefined) headers.set('Idempotency-Key', key);
    const request = { ...rest, method, headers, ...(send !== undefined && { body: JSON.stringify(send) }) };
    const response = await app.request(path, request, { remoteAddress: '203.0.113.7' });
    const text = await response.text();
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      body: isJson ? JSON.parse(text) : text,
      etag: response.headers.get('etag') ?? '',
      headers: response.headers,
    };
  };
  return { agents, clock, target, lines, audited, tenants, claims, identities, app, routes, call };
}

export async function openFixture(
  make: () => Promise<Target> = embedded,
  options: Options = {},
): Promise<Fixture> {
  const target = await make();
  await createTables(target.control, [conversationsTable, tenantsTable]);
  return openProcess(target, options);
}

// Works until nothing is due any more.
export async function settle(fixture: Fixture): Promise<void> {
  for (let round = 0; round < 50; round++) if ((await fixture.agents.runDue()).worked === 0) return;
  throw new Error('there is always something due');
}

// Waits for what other requests of this process bring about.
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (const lastMs = Date.now() + 30_000; Date.now() < lastMs; ) {
    if (await isSo()) return;
    await setTimeout(1);
  }
  throw new Error('it never came to that');
}

// Time passes in small steps, each with a turn of the event loop for what really happens meanwhile.
export async function advanceUntil(fixture: Fixture, isSo: () => boolean): Promise<void> {
  for (let step = 0; step < 20_000 && !isSo(); step++) await fixture.clock.advance(5);
}

// Every item there is, for tests that ask what is left.
export async function everyItem({ client }: Target, TableName = 'conversations') {
  const { Items = [] } = await client.scan({ TableName });
  return Items;
}

// Whether a text is anywhere in the tables.
export const isKept = async ({ target }: Fixture, text: string): Promise<boolean> =>
  (await everyItem(target)).some(item => JSON.stringify(item).includes(text));

export const conversationPath = (id: string, tenant = 'acme') => `/v1/tenants/${tenant}/conversations/${id}`;
export const say = (
  fixture: Fixture,
  id: string,
  content: string,
  init: Call & { user_id?: string } = {},
) => {
  const { user_id, ...rest } = init;
  const send = { content, ...(user_id !== undefined && { user_id }) };
  return fixture.call('POST', `${conversationPath(id)}/messages`, { send, ...rest });
};
