import { conversationsTable, createAgents, type Models } from '@stak/agents';
import { createEngine } from '@stak/engine';
import { type Principal, unguarded } from '@stak/http';
import { type Clock, createIds, createLogger, createSealer, systemClock } from '@stak/kit';
import { createOutbound } from '@stak/outbound';
import { createLedger, createStore, createTables, type DynamoClient } from '@stak/table';
import { createTenants, tenantProblems, tenantsTable } from '@stak/tenants';
import { serveInProcess } from '../in-process-api.ts';

export const tableName = conversationsTable.name;
const tenantId = 'bench';
export const messagesPath = (conversationId: string, tenant = tenantId): string =>
  `/v1/tenants/${tenant}/conversations/${conversationId}/messages`;
// So high that the bench never reaches it.
export const settings = { messages_per_day: 1_000_000 };
// Answered by a rule.
export const question = { content: 'Good morning' };

export type OpenAgents = Awaited<ReturnType<typeof openAgents>>;

const host = 'host';
const sub = 'ann';
const principalOf = (token: string): Principal =>
  token === host
    ? { kind: 'account', accountId: 'usr_bench', scope: 'admin', via: 'api_key', credentialId: 'bench' }
    : { kind: 'endUser', tenantId, userId: token, scope: 'write' };

type Served = {
  clock?: Clock;
  watch?: (client: DynamoClient) => DynamoClient; // observes every call to the engine
  models?: Models;
  settings: object; // of the tenant
};

// Agents and their tenants, on an engine in memory, called through their routes without a socket.
export async function serveAgents({ clock = systemClock, watch = same, models, settings }: Served) {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  await createTables(engine, [conversationsTable, tenantsTable]);
  const ledger = createLedger();
  const log = createLogger({ level: 'silent' });
  const base = {
    store: createStore({ client: watch(engine.client), clock, ledger }),
    clock,
    ids: createIds({ clock }),
    log,
  };
  const tenants = createTenants({
    ...base,
    mintEndUserToken: () => Promise.reject(new Error('nobody asks for a token')),
    erasers: () => [],
    audit: async () => {},
  });
  const outbound = createOutbound();
  const agents = createAgents({
    ...base,
    sealer: createSealer({ keys: [{ id: 'bench', secret: 'nothing is sealed with this' }] }),
    outbound,
    enterTenant: tenants.enterTenant,
    resolveChannel: tenants.resolveChannel,
    findChannelUser: tenants.findChannelUser,
    models,
  });
  const callAs = serveInProcess({
    endpoints: [...tenants.api, ...agents.api],
    guards: { ...unguarded, enterTenant: tenants.enterForRoute, problemsOf: tenantProblems },
    errors: [tenants.errors, agents.errors],
    authenticate: async ({ token }) => principalOf(token),
    clock,
    log,
  });
  const callAsHost = callAs(host);
  await callAsHost('POST', '/v1/tenants', { tenant_id: tenantId, name: 'Bench', status: 'active' });
  await callAsHost('PATCH', `/v1/tenants/${tenantId}/settings`, settings, { 'If-Match': '*' });
  return {
    client: engine.client,
    ledger,
    agents,
    callAs,
    callAsHost,
    async close() {
      await outbound.close();
      await engine.close();
    },
  };
}

// No worker: nothing is left for it to do.
export async function openAgents(watch?: Served['watch']) {
  const { client, ledger, callAs, close } = await serveAgents({ watch, settings });
  const callAsUser = callAs(sub);

  // Creates a conversation of the user.
  async function begin(): Promise<string> {
    const begun = await callAsUser('POST', `/v1/tenants/${tenantId}/conversations`, {});
    return (JSON.parse(begun) as { conversation_id: string }).conversation_id;
  }
  const say = (conversationId: string): Promise<string> =>
    callAsUser('POST', messagesPath(conversationId), question);
  return { client, ledger, begin, say, close };
}

const same = (client: DynamoClient): DynamoClient => client;
