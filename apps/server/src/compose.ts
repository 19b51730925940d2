import { storageTable } from '@stak/accounts';
import { type AnyEndpoint, type Authenticate, withProblems } from '@stak/http';
import type { ErrorCatalogue, Worker } from '@stak/kit';
import type { FollowerOptions, Subscription } from '@stak/streams';
import type { AnyTable } from '@stak/table';
import { downloadEndpoint } from './archive/download.ts';
import { withTrail } from './audit-trail.ts';
import { createExplorer, type Explorer } from './explorer/explorer.ts';
import { withKeyTenants } from './key-tenants.ts';
import { ownInboxEndpoints, ownTenant } from './notices.ts';
import { permissionsEndpoint } from './permissions.ts';
import { type ComposeDeps, mintEndUserTokenOf, type OpenServices, openServices } from './services.ts';
import { withStorageLimit } from './storage.ts';
import { systemEndpoints } from './system.ts';
import { withVerifiedEmail } from './verified-email.ts';

// What each service provides to the code that serves, runs or documents it.
export type Service = {
  api: readonly AnyEndpoint[];
  errors: ErrorCatalogue;
  tables: readonly AnyTable[];
  subscriptions: readonly Subscription[];
  followers?: readonly FollowerOptions[]; // run in every process
  workers: readonly Worker[];
};

export type Services = {
  all: readonly Service[];
  ownEndpoints: readonly AnyEndpoint[];
  explorer?: Explorer;
  storage: OpenServices['storage'];
  portalPageOf: OpenServices['tenants']['portalPageOf']; // for the portal page of a tenant
  authenticate: Authenticate;
  lakeConsumers: readonly { name: string }[]; // in the lake's own thread
  // Prepares what the first request needs. The tables exist already.
  prepare(): Promise<void>;
  // Closes everything besides the store, after the workers have stopped.
  close(): Promise<void>;
};

// All services with guarded routes, and the server's own routes.
export function composeServices(deps: ComposeDeps): Services {
  const services = openServices(deps);
  const { accounts, tenants, webhooks, agents, lake, outbound, mcpOutbound, storage } = services;
  const { clock, ids, log, cursors } = deps;
  const explorer = deps.explorer && createExplorer({ clock, ids, log, cursors, ...deps.explorer });
  const verified = verifiedBy(deps, services);
  const all = guardServices(deps, services).map(one => ({ ...one, api: verified(one.api) }));
  return {
    all,
    storage,
    portalPageOf: tenants.portalPageOf,
    lakeConsumers: lake?.consumers ?? [],
    ownEndpoints: verified(createOwnEndpoints(deps, services, { all, explorer })),
    ...(explorer && { explorer }),
    authenticate: accounts.authenticate,
    prepare: async () => {
      await Promise.all([accounts.prepare(), webhooks.prepare(), agents.prepare()]);
    },
    async close() {
      await explorer?.close();
      await accounts.settle();
      await webhooks.close();
      lake?.close();
      await outbound.close();
      await mcpOutbound.close();
    },
  };
}

type WithApi = { api: readonly AnyEndpoint[] };

// Error codes of `enterTenant`.
const gated = <S extends WithApi>(service: S) => ({
  ...service,
  api: withProblems(service.api, ['tenants.not_found', 'tenants.suspended']),
});

function guardsOf({ log }: ComposeDeps, { accounts, tenants, storage }: OpenServices) {
  const { payerOf } = tenants;
  return {
    limited: <S extends WithApi>(service: S) => withStorageLimit({ storage, accountOf: payerOf }, service),
    audited: <S extends WithApi>(service: S) =>
      withTrail({ audit: accounts.audit.record, log, payerOf }, service),
  };
}

function guardServices(deps: ComposeDeps, services: OpenServices): readonly Service[] {
  const { accounts, tenants, inbox, webhooks, tasks, agents, storage, lake } = services;
  const { limited, audited } = guardsOf(deps, services);
  const others = [
    gated(inbox),
    webhooks,
    gated(tasks),
    { ...agents, api: tenants.guardManagement(agents.api) },
  ];
  return [
    audited(limited(accounts)),
    limited({ ...tenants, api: withAccountsProblems(tenants.api) }),
    ...others.map(service => audited(limited(service))),
    { ...storage, api: [], errors: accounts.errors, tables: [storageTable] },
    ...(lake ? [audited(gated(limited(lake)))] : []),
  ];
}

const verifiedBy = ({ config }: ComposeDeps, { accounts, tenants }: OpenServices) => {
  const { anthropic, bedrock, google, openai, openaiCompatible } = config.models;
  return (endpoints: readonly AnyEndpoint[]) =>
    withVerifiedEmail(
      {
        isRequired: config.requireVerifiedEmail,
        hasModels: Boolean(anthropic ?? bedrock ?? google ?? openai ?? openaiCompatible),
        isVerified: accounts.isVerified,
        accountOf: tenants.payerOf,
      },
      endpoints,
    );
};

function createOwnEndpoints(
  deps: ComposeDeps,
  services: OpenServices,
  { all, explorer }: { all: readonly Service[]; explorer: Explorer | undefined },
): readonly AnyEndpoint[] {
  const { store, clock, sealer } = deps;
  const { accounts, inbox, lake } = services;
  const { limited, audited } = guardsOf(deps, services);
  const mintEndUserToken = mintEndUserTokenOf(deps, services);
  // The lake's consumers may run here or in its own thread. They are listed once.
  const captures = new Set(lake?.consumers.map(({ name }) => name));
  const ownEndpoints: readonly AnyEndpoint[] = [
    // Valid as long as an access token, and no longer than the session or key that requested it.
    ...ownInboxEndpoints(
      grant => mintEndUserToken({ tenant: ownTenant, ttlSeconds: 15 * 60, ...grant }),
      inbox.operations,
    ),
    downloadEndpoint({ store, client: deps.client, sealer, clock, accounts }),
    ...systemEndpoints({
      store,
      clock,
      ...deps.system,
      subscriptions: [
        ...all.flatMap(service => service.subscriptions).filter(({ name }) => !captures.has(name)),
        ...(lake?.consumers ?? []),
      ],
      isOperator: caller => explorer?.isOperator(caller) ?? false,
    }),
    ...(explorer?.api ?? []),
    ...(explorer && lake ? audited(limited({ api: lake.operatorApi(explorer.enter) })).api : []),
    permissionsEndpoint(() => [...ownEndpoints, ...all.flatMap(service => service.api)]),
  ];
  return ownEndpoints;
}

// Errors of accounts in routes of tenants: too much mail, or a provider that does not work.
const fromAccounts: Readonly<Record<string, readonly string[]>> = {
  'tenants.requestSignIn': ['accounts.too_many_attempts'],
  'tenants.createInvitation': ['accounts.too_many_attempts'],
  'tenants.startPortalSignIn': ['accounts.provider_failed', 'accounts.provider_not_configured'],
};
const withAccountsProblems = (endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  endpoints.flatMap(one => withProblems([one], fromAccounts[one.route.operationId ?? ''] ?? []));

// All routes of the services, with the errors that the store may cause.
export const endpointsOf = ({ ownEndpoints, all }: Pick<Services, 'ownEndpoints' | 'all'>): AnyEndpoint[] =>
  withKeyTenants([...ownEndpoints, ...all.flatMap(service => service.api)]).flatMap(one =>
    withProblems([one], one.route.method === 'get' ? ['table.busy'] : ['table.busy', 'store.full']),
  );
