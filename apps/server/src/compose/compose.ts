import { storageTable } from '@stak/accounts';
import type { AnyEndpoint, Authenticate, Guards } from '@stak/http';
import type { ErrorCatalogue, Worker } from '@stak/kit';
import type { FollowerOptions, Subscription } from '@stak/streams';
import type { AnyTable } from '@stak/table';
import { userIdOf } from '@stak/tasks';
import { permissionsEndpoint } from '../http/permissions.ts';
import { systemEndpoints } from '../http/system.ts';
import { whyEndpoint } from '../http/why/routes.ts';
import { downloadEndpoint } from '../store/archive/download.ts';
import { createExplorer, type Explorer } from '../store/explorer/explorer.ts';
import { ownTenant } from '../store/own-tenant.ts';
import { createGuards } from './guards.ts';
import { ownInboxEndpoints } from './notices.ts';
import { withRecall } from './recall.ts';
import { type ComposeDeps, mintEndUserTokenOf, type OpenServices, openServices } from './services.ts';
import { accountOfTenant, accountOfUser, findingsOf } from './why.ts';

// The part of a service that the code needs that serves, runs or documents it.
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
  guards: Guards; // of all of them
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

// All services, the server's own routes, and what guards them.
export function composeServices(deps: ComposeDeps): Services {
  const services = openServices(deps);
  const { accounts, tenants, webhooks, agents, lake, outbound, mcpOutbound, storage } = services;
  const { clock, ids, log, cursors } = deps;
  const explorer = deps.explorer && createExplorer({ clock, ids, log, cursors, ...deps.explorer });
  const all = listServices(services);
  return {
    all,
    storage,
    portalPageOf: tenants.portalPageOf,
    lakeConsumers: lake?.consumers ?? [],
    ownEndpoints: createOwnEndpoints(deps, services, { all, explorer }),
    guards: createGuards(deps, services),
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

function listServices({ accounts, tenants, inbox, webhooks, tasks, agents, storage, lake }: OpenServices) {
  const stored = { ...storage, api: [], errors: accounts.errors, tables: [storageTable] };
  const services: Service[] = [accounts, tenants, inbox, webhooks, tasks, agents, stored];
  return lake ? [...services, lake] : services;
}

function createOwnEndpoints(
  deps: ComposeDeps,
  services: OpenServices,
  { all, explorer }: { all: readonly Service[]; explorer: Explorer | undefined },
): readonly AnyEndpoint[] {
  const { store, clock, sealer } = deps;
  const { accounts, inbox, lake } = services;
  const mintEndUserToken = mintEndUserTokenOf(deps, accounts);
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
    ...(explorer && lake ? lake.operatorApi(explorer.enter) : []),
    whyEndpoint({
      findings: lake ? withRecall(findingsOf(services), lake) : findingsOf(services),
      accountOfUser: accountOfUser(services),
      accountOfTenant: accountOfTenant(services),
      ownTenant,
      userIdOf,
    }),
    permissionsEndpoint(() => [...ownEndpoints, ...all.flatMap(service => service.api)]),
  ];
  return ownEndpoints;
}

// All routes, which `guards` guard.
export const endpointsOf = ({ ownEndpoints, all }: Pick<Services, 'ownEndpoints' | 'all'>): AnyEndpoint[] => [
  ...ownEndpoints,
  ...all.flatMap(service => service.api),
];
