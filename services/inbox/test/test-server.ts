import { createEngine } from '@stak/engine';
import {
  type AnyEndpoint,
  createApi,
  createMemoryIdempotency,
  type Principal,
  type RequestTenant,
  unguarded,
  withProblems,
} from '@stak/http';
import { createIds, createLogger, defineErrors, manualClock, type Owners, seededRandom } from '@stak/kit';
import { streamsTable } from '@stak/streams';
import { createLedger, createStore, createTables, tableErrors } from '@stak/table';
import { createInbox, inboxTable } from '../src/index.ts';
import type { ShownMessage } from '../src/schema.ts';

// An inbox behind the HTTP conventions, called without a socket. Ann's account owns the tenant acme, Bob's the
// tenant bolt.

const tenantErrors = defineErrors({ 'tenants.not_found': 404 });

const owners: Record<string, string> = { acme: 'usr_ann', bolt: 'usr_bob' };
const principals: Record<string, Principal> = {
  ann: { kind: 'account', accountId: 'usr_ann', scope: 'admin', via: 'api_key', credentialId: 'k1' },
  reader: { kind: 'account', accountId: 'usr_ann', scope: 'read', via: 'api_key', credentialId: 'k2' },
  bob: { kind: 'account', accountId: 'usr_bob', scope: 'admin', via: 'api_key', credentialId: 'k3' },
  'acme-u1': { kind: 'endUser', tenantId: 'acme', userId: 'u1', scope: 'write' },
  'acme-u2': { kind: 'endUser', tenantId: 'acme', userId: 'u2', scope: 'write' },
  'bolt-u1': { kind: 'endUser', tenantId: 'bolt', userId: 'u1', scope: 'write' },
};

const enterTenant = async (principal: Principal, tenant_id: string): Promise<RequestTenant> => {
  const isOwn =
    principal.kind === 'account'
      ? owners[tenant_id] === principal.accountId
      : principal.kind === 'endUser' && principal.tenantId === tenant_id;
  if (!isOwn) throw tenantErrors.create('tenants.not_found', 'There is no such tenant.');
  return { tenant_id, account_id: owners[tenant_id] ?? '' };
};

type CallInit = { as?: string; send?: unknown; headers?: Record<string, string>; signal?: AbortSignal };
// Whatever an answer may have.
type Answer = ShownMessage & {
  code: string;
  status: string;
  title: string;
  errors: { pointer: string }[];
  data: (ShownMessage & { status: string; ok: boolean; code?: string })[];
  next_cursor: string | null;
};
export type TestServer = Awaited<ReturnType<typeof createTestServer>>;

export async function createTestServer(settings: { recipientsTogether?: number; owners?: Owners } = {}) {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const engine = await createEngine({ path: ':memory:', clock, sweepIntervalMs: 0 });
  await createTables(engine, [inboxTable, streamsTable]);
  const log = createLogger({ level: 'silent' });
  const ledger = createLedger();
  const random = seededRandom(1);
  const store = createStore({ client: engine.client, clock, random, ledger });
  const ids = createIds({ clock, random: seededRandom(2) });
  const deps = { store, clock, ids, log, random };
  const inbox = createInbox({ ...deps, ...settings });
  const api = createApi({
    info: { title: 'Inbox', version: '1' },
    endpoints: withProblems(inbox.api as readonly AnyEndpoint[], ['tenants.not_found', 'table.busy']),
    guards: { ...unguarded, enterTenant },
    errors: [inbox.errors, tenantErrors, tableErrors],
    authenticate: async ({ token }) => principals[token],
    clock,
    log,
    idempotency: createMemoryIdempotency({ clock }),
  });

  const call = (method: string, path: string, { as = 'ann', send, headers, signal }: CallInit = {}) =>
    api.app.request(
      path.startsWith('/') ? path : `/v1/tenants/acme/inboxes/${path}`,
      {
        method,
        signal,
        headers: {
          Authorization: `Bearer ${as}`,
          ...(send !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(send !== undefined && { body: JSON.stringify(send) }),
      },
      { remoteAddress: '203.0.113.7' },
    );
  // Status and body, for short tests.
  const ask = async (method: string, path: string, init?: CallInit) => {
    const response = await call(method, path, init);
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Answer };
  };
  return { clock, engine, store, deps, ledger, inbox, api, call, ask, close: () => engine.close() };
}

export const main = { title: 'Main', ttl: { default: '30d', offer: '12h' } };
export const hello = { message: { title: 'Hello', body: 'How are you?' } };
export const many = (count: number) => Array.from({ length: count }, (_, i) => `u${i}`);

// Something of every kind in the inbox `main`: short and long lists, one to everyone that was read, one for later.
export async function fill(server: TestServer): Promise<void> {
  const taxonomy = { category: 'offer' };
  const send = { ...hello, taxonomy, uids: many(30), host_system_id: 'H-1' };
  await server.ask('POST', 'main/messages', { send });
  const large = { title: 'Terms', body: 'x'.repeat(20_000) };
  await server.ask('POST', 'main/messages', { send: { message: large, uids: many(10) } });
  await server.inbox.operations.runDue();
  const { id } = (await server.ask('POST', 'main/broadcasts', { send: { ...hello, taxonomy } })).body;
  await server.ask('PUT', `main/users/u1/messages/${id}/read`);
  const send_at = server.clock.now() / 1000 + 3600;
  await server.ask('POST', 'main/messages', { send: { ...hello, uids: ['u1'], send_at } });
}

// All that is stored of the inbox `main`, but for the record of its deletion.
export async function storedOf({ engine }: TestServer) {
  const { Items = [] } = await engine.client.scan({ TableName: 'stak-inbox' });
  return Items.filter(item => item.kind !== 'EJ' && JSON.stringify([item.pk, item.sk]).includes('main'));
}
