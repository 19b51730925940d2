import type { AnyEndpoint, Principal } from '@stak/http';
import { unknownOwners } from '@stak/kit';
import type { AnyTable } from '@stak/table';
import { guardManagement } from './access/admins.ts';
import {
  createTenantRead,
  type EnterTenant,
  type Entrance,
  enterTenant,
  readOpenTenant,
} from './access/gate.ts';
import { createAccessRoutes } from './access/routes.ts';
import { createTokenEpochs } from './access/token-epochs.ts';
import { auditChanges } from './audit.ts';
import type { Service, TenantsDeps } from './deps.ts';
import { createErasureWorker } from './erasure/erasure-worker.ts';
import { createOwnEraser } from './erasure/own-eraser.ts';
import { tenantErrors } from './errors.ts';
import { portalPageOf } from './portal/branding.ts';
import { createProviderSettingsRoutes, createProviderSignInRoutes } from './portal/provider-routes.ts';
import { createPortalRoutes } from './portal/routes.ts';
import { resolveSignIn, type SignInRequest } from './portal/sign-in.ts';
import { tenant, tenants, user } from './table.ts';
import {
  type Channel,
  findChannelMappings,
  type ResolveChannel,
  resolveChannel,
} from './tenants/channels.ts';
import { readCounted, roomFor, tenantsCounted } from './tenants/counts.ts';
import { createTenantRoutes } from './tenants/routes.ts';
import { listTenantIds } from './tenants/tenants.ts';
import { createUserRoutes } from './users/routes.ts';
import { findByIdentity, listAdmins } from './users/users.ts';

export { manageScope } from './access/admins.ts';
export type { EnteredTenant, EnterTenant, Entrance } from './access/gate.ts';
export { endUserScopes } from './access/scopes.ts';
export type { IsTokenRevoked } from './access/token-epochs.ts';
export { auditChanges } from './audit.ts';
export type { Audit, AuditRecord, MintEndUserToken, TenantMail, TenantsDeps } from './deps.ts';
export type { Erased, Eraser, ExportedItem } from './erasure/erasers.ts';
export { tenantErrors } from './errors.ts';
export type { PortalPage } from './portal/branding.ts';
export { tenantOwners } from './storage-owners.ts';
export { tenants as tenantsTable, user as tenantUser } from './table.ts';
export type { ResolveChannel } from './tenants/channels.ts';
export { defaultSettings, type TenantSettings } from './tenants/settings.ts';

export function createTenants(deps: TenantsDeps) {
  const service: Service = {
    ...deps,
    epochs: createTokenEpochs(deps),
    readTenant: createTenantRead(deps.store),
    // Nothing stays in force because others cannot be told: their streams end a little later.
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
  // Also while it is being deleted: what it has counts for the account until it is gone.
  const payerOf = async (tenant_id: string) => (await deps.store.get(tenant, { tenant_id }))?.account_id;
  const resolve: ResolveChannel = (type, channelId) => resolveChannel(service, type, channelId);

  return {
    api: [
      ...guardManagement(
        service,
        auditChanges({ ...service, payerOf }, [
          ...createTenantRoutes(service),
          ...createUserRoutes(withEraser),
          ...createAccessRoutes(service),
          ...(deps.portal ? createProviderSettingsRoutes({ ...service, portal: deps.portal }) : []),
        ] as const),
      ),
      ...(deps.portal
        ? [
            ...createPortalRoutes({ ...service, portal: deps.portal }),
            ...createProviderSignInRoutes({ ...service, portal: deps.portal }),
          ]
        : []),
    ] as const,
    errors: tenantErrors,
    tables: [tenants] as AnyTable[],
    subscriptions: [],
    workers: [createErasureWorker(withEraser)],
    // What other services and the authenticator need of this one.
    enterTenant: enter,
    resolveChannel: resolve,
    findChannelMappings: (channel: Channel) => findChannelMappings(service, channel),
    // Whose identity on a channel it is, by the lock of it.
    findChannelUser: async (tenantId: string, channel: string, identity: string) =>
      (await findByIdentity(service, tenantId, channel, identity)).items[0]?.user_id,
    // What a tenant has told of one of its users; of one it has not, no more than how old the tenant is.
    describeUser: async (tenantId: string, userId: string) => {
      const known = await deps.store.get(user, { tenant_id: tenantId, user_id: userId });
      if (known) return { email: known.email, name: known.display_name, createdAt: known.created_at };
      const tenant = await readOpenTenant(service, tenantId);
      return tenant && { createdAt: tenant.created_at };
    },
    // What a user is now, whatever a token of theirs says.
    roleOf: async (tenant_id: string, user_id: string) =>
      (await deps.store.get(user, { tenant_id, user_id }, { consistent: true }))?.role,
    adminsOf: (tenantId: string) => listAdmins(service, tenantId),
    isTokenRevoked: service.epochs.isRevoked,
    // Whose tenant it is; nobody's when it is deleted.
    accountOf: async (tenantId: string) => (await readOpenTenant(service, tenantId))?.account_id,
    payerOf,
    // For routes of other services that a tenant is managed by.
    guardManagement: <E extends readonly AnyEndpoint[]>(endpoints: E) => guardManagement(service, endpoints),
    // What the page of the portal may be shown in, and load. Nothing for a tenant that does not exist.
    portalPageOf: async (tenantId: string) => {
      const found = await readOpenTenant(service, tenantId);
      return found && portalPageOf(found);
    },
    // What a request for a mail comes to, when a worker looks.
    resolveSignIn: async (request: SignInRequest) =>
      deps.portal ? resolveSignIn({ ...service, portal: deps.portal }, request) : {},
    // How many tenants an account has, and may have.
    countTenants: (accountId: string) =>
      roomFor(service, accountId, 'tenants').then(limit =>
        readCounted(tenantsCounted(service, accountId), limit),
      ),
    tenantsOf: (accountId: string) => listTenantIds(service, accountId),
    eraser,
  };
}

export type Tenants = ReturnType<typeof createTenants>;
