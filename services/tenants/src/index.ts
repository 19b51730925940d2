import type { Principal, RouteSpec } from '@stak/http';
import { createRecentMap, unknownOwners } from '@stak/kit';
import type { AnyTable } from '@stak/table';
import { enterForRoute } from './access/admins.ts';
import {
  createTenantRead,
  type EnterTenant,
  type Entrance,
  enterTenant,
  readOpenTenant,
} from './access/gate.ts';
import { createTokenRoutes } from './access/routes.ts';
import { createTokenEpochs } from './access/token-epochs.ts';
import { revokeTokens } from './access/tokens.ts';
import { portalPageOf } from './branding.ts';
import type { Service, TenantsDeps } from './deps.ts';
import { createErasureWorker } from './erasure/erasure-worker.ts';
import { createOwnEraser } from './erasure/own-eraser.ts';
import { createErasureRoutes } from './erasure/routes.ts';
import { tenantErrors } from './errors.ts';
import { rememberedAccounts, rememberedShares } from './limits.ts';
import { createProviderSettingsRoutes, createProviderSignInRoutes } from './portal/provider-routes.ts';
import { createPortalRoutes } from './portal/routes.ts';
import { resolveSignIn, type SignInRequest } from './portal/sign-in.ts';
import { tenant, tenants, user } from './tables.ts';
import { createChannelRoutes } from './tenants/channel-routes.ts';
import {
  type Channel,
  findChannelMappings,
  type ResolveChannel,
  resolveChannel,
} from './tenants/channels.ts';
import { readCounted, roomFor, tenantsCounted } from './tenants/counts.ts';
import { createTenantRoutes } from './tenants/routes.ts';
import { listTenantIds } from './tenants/tenants.ts';
import { createUserAdoption } from './users/adopt.ts';
import { createInvitationRoutes } from './users/invitation-routes.ts';
import { createUserRoutes } from './users/routes.ts';
import { findByIdentity, listAdmins } from './users/users.ts';

export { manageScope, tenantProblems } from './access/admins.ts';
export type { EnteredTenant, EnterTenant, Entrance } from './access/gate.ts';
export type { IsTokenRevoked } from './access/token-epochs.ts';
export type { PortalPage } from './branding.ts';
export type { LimitShare, MintEndUserToken, TenantMail, TenantsDeps } from './deps.ts';
export type { Erased, Eraser, ExportedItem } from './erasure/erasers.ts';
export { tenantErrors } from './errors.ts';
export { tenantOwners } from './owners.ts';
export { endUserScopes } from './scopes.ts';
export { defaultSettings, type TenantSettings } from './settings.ts';
export { tenants as tenantsTable, user as tenantUser } from './tables.ts';
export type { ResolveChannel } from './tenants/channels.ts';

export function createTenants(deps: TenantsDeps) {
  const service: Service = {
    ...deps,
    epochs: createTokenEpochs(deps),
    reportedShares: createRecentMap(rememberedShares),
    readTenant: createTenantRead(deps.store),
    adoptUsers: createUserAdoption(),
    // A revocation takes effect even if other processes cannot be notified: their streams end a little later.
    announce: async (...revoked) => {
      await deps
        .announceRevoked?.(...revoked)
        .catch(error => deps.log.warn({ err: error }, 'could not publish a revocation'));
    },
  };
  const eraser = createOwnEraser(service);
  const owners = deps.owners ?? unknownOwners(deps.ids);
  const withEraser = { ...service, owners, ownEraser: eraser };
  const enter: EnterTenant = (principal: Principal, tenantId: string, entrance?: Entrance) =>
    enterTenant(service, principal, tenantId, entrance);
  // Also while it is being deleted: its data count for the account until they are gone. A tenant never changes its
  // account, and its id is never used again.
  const payers = createRecentMap<string, string>(rememberedAccounts);
  const payerOf = async (tenant_id: string) => {
    const known = payers.get(tenant_id);
    if (known !== undefined) return known;
    const found = (await deps.store.get(tenant, { tenant_id }))?.account_id;
    if (found !== undefined) payers.set(tenant_id, found);
    return found;
  };
  const resolve: ResolveChannel = (type, channelId) => resolveChannel(service, type, channelId);

  return {
    api: [
      ...createTenantRoutes(service),
      ...createUserRoutes(service),
      ...createChannelRoutes(service),
      ...createInvitationRoutes(service),
      ...createTokenRoutes(service),
      ...createErasureRoutes(withEraser),
      ...(deps.portal
        ? [
            ...createProviderSettingsRoutes({ ...service, portal: deps.portal }),
            ...createPortalRoutes({ ...service, portal: deps.portal }),
            ...createProviderSignInRoutes({ ...service, portal: deps.portal }),
          ]
        : []),
    ] as const,
    errors: tenantErrors,
    tables: [tenants] as AnyTable[],
    subscriptions: [],
    workers: [createErasureWorker(withEraser)],
    // For other services and for authentication.
    enterTenant: enter,
    // For the guards of routes, of all services.
    enterForRoute: (
      principal: Parameters<typeof enterForRoute>[1],
      tenantId: string,
      route: Pick<RouteSpec, 'tenant' | 'endUserScope'>,
    ) => enterForRoute(service, principal, tenantId, route),
    isActive: async (tenantId: string) => {
      const found = await readOpenTenant(service, tenantId);
      return found !== undefined && found.status !== 'suspended';
    },
    resolveChannel: resolve,
    findChannelMappings: (channel: Channel) => findChannelMappings(service, channel),
    // The user with an identity on a channel, by the lock of it.
    findChannelUser: async (tenantId: string, channel: string, identity: string) =>
      (await findByIdentity(service, tenantId, channel, identity)).items[0]?.user_id,
    // Describes a user as the tenant has stored them; an unknown one by the age of the tenant only.
    describeUser: async (tenantId: string, userId: string) => {
      const known = await deps.store.get(user, { tenant_id: tenantId, user_id: userId });
      if (known) return { email: known.email, name: known.display_name, createdAt: known.created_at };
      const tenant = await readOpenTenant(service, tenantId);
      return tenant && { createdAt: tenant.created_at };
    },
    // The current role of a user, whatever their token says.
    roleOf: async (tenant_id: string, user_id: string) =>
      (await deps.store.get(user, { tenant_id, user_id }, { consistent: true }))?.role,
    adminsOf: (tenantId: string) => listAdmins(service, tenantId),
    isTokenRevoked: service.epochs.isRevoked,
    lastRevokedAt: service.epochs.lastOfAll,
    // The account of a tenant; undefined if it is deleted.
    accountOf: async (tenantId: string) => (await readOpenTenant(service, tenantId))?.account_id,
    payerOf,
    // Revokes all tokens and portal sessions of the users of an account's tenants.
    async revokeTokensOf(account_id: string) {
      for (const tenant_id of await listTenantIds(service, account_id))
        await revokeTokens(service, tenant_id, undefined).catch(error => {
          if (!tenantErrors.includes(error) || error.code !== 'tenants.not_found') throw error;
        });
    },
    // Reads which pages may show the portal in a frame, and what it may load. Undefined if the tenant does not exist.
    portalPageOf: async (tenantId: string) => {
      const found = await readOpenTenant(service, tenantId);
      return found && portalPageOf(found);
    },
    // Decides whether a request for a sign-in mail leads to one. Called by a worker.
    resolveSignIn: async (request: SignInRequest) =>
      deps.portal ? resolveSignIn({ ...service, portal: deps.portal }, request) : {},
    // How many tenants an account has, and its limit.
    countTenants: (accountId: string) =>
      roomFor(service, accountId, 'tenants').then(limit =>
        readCounted(tenantsCounted(service, accountId), limit),
      ),
    tenantsOf: (accountId: string) => listTenantIds(service, accountId),
    eraser,
  };
}

export type Tenants = ReturnType<typeof createTenants>;
