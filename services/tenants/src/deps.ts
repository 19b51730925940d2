import type { Revoked, WriteAudit } from '@stak/http';
import type { Clock, Ids, Logger, Owners, RecentMap, Sealer } from '@stak/kit';
import type { Store, WriteStep } from '@stak/table';
import type { createTenantRead } from './access/gate.ts';
import type { TokenEpochs } from './access/token-epochs.ts';
import type { Eraser } from './erasure/erasers.ts';
import type { TenantSettings } from './settings.ts';

export type MintEndUserToken = (claims: {
  tenant: string;
  sub: string;
  scope: string; // separated by spaces
  ttlSeconds: number;
  session?: string; // of the portal: the token ends with it
}) => Promise<{ token: string; expires_at: string }>;

// Mail that tenants send to their own users. Its steps belong to the transaction that causes it.
export type TenantMail = {
  steps(mail: {
    kind: 'tenant.sign_in_requested' | 'tenant.sign_in' | 'tenant.invited';
    to: string;
    details: Readonly<Record<string, string>>;
    token?: string;
    keptS: number;
  }): Record<string, WriteStep>;
  wake(): void; // starts the worker; call it after the transaction
  // Whether mail to strangers may show the account's name.
  mayName(account: string): Promise<boolean>;
  // Refuses if there was too much mail to an address, or from the caller.
  tryMail(to: { email: string; address: string | undefined; account: string }): Promise<unknown>;
  tryInvitation(to: { email: string; account: string }): Promise<unknown>;
};

type IssuerOwner = { name: 'tenant'; organisationId: string };
type IssuerClient = { issuer: string; clientId: string; version: string; openSecret(): string };

// Sign-in through OpenID Connect providers that tenants chose.
type TenantIssuers = {
  problems: readonly string[]; // the codes of what `start` throws
  refusalOf(issuer: string): string | undefined;
  test(client: IssuerClient): Promise<{ isWorking: boolean; detail: string }>;
  start(
    owner: IssuerOwner,
    client: IssuerClient,
    attempt: { redirectUri: string; returnTo: string },
  ): Promise<{ url: string; cookie: string }>;
  finish(
    owner: IssuerOwner,
    findClient: () => Promise<IssuerClient>,
    redirectUri: string,
    callback: { url: string; cookie: string | undefined },
  ): Promise<{ identity: ProviderIdentity }>;
  clearCookie: string;
};

// A person, as the provider knows them.
export type ProviderIdentity = {
  readonly id: string;
  readonly email: string | undefined;
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
};

export type PortalDeps = {
  publicUrl: string;
  sealer: Sealer;
  issuers?: TenantIssuers; // without it, users cannot sign in through a provider
  mail?: TenantMail; // without it, users cannot sign in by mail
  listInboxes(tenantId: string): Promise<readonly { inbox_key: string; title: string }[]>;
};

// How much of a limit of the plan is used: of the tenants of an account, or of the users of the tenant that is named.
export type LimitShare = { account_id: string; tenant_id?: string; percent: number; limit: number };

export type TenantsDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners?: Owners; // detects which workers are gone; without it, leases have to expire
  mintEndUserToken: MintEndUserToken;
  // The erasers of the other services. Called at every use, because services may be created after this one.
  erasers: () => readonly Eraser[];
  audit: WriteAudit;
  // Reports settings that no service supports, by field. Without it, any value of the right shape is accepted.
  checkSettings?(
    tenantId: string,
    before: TenantSettings,
    after: TenantSettings,
  ): Promise<readonly { field: string; detail: string }[]>;
  // The limits of an account's plan; null: no limit. Without it, nothing is limited.
  planOf?(accountId: string): Promise<{ tenants: number | null; usersPerTenant: number | null }>;
  // Notifies the account of a limit that is almost or fully used. May be called several times for one share.
  onShareUsed?(share: LimitShare): Promise<void>;
  accountSkills?(): readonly string[]; // skills about the account rather than the tenant, which admins of the tenant cannot enable
  // Notifies other processes before tokens are revoked or a tenant is closed, so that open event streams end.
  announceRevoked?: (...revoked: Revoked[]) => Promise<void>;
  // Ends what other services gave to a user without an end, when their tokens are revoked or they are deleted.
  endAccess?(tenantId: string, userId: string): Promise<void>;
  portal?: PortalDeps; // without it, there is no portal
};

type Announce = (...revoked: Revoked[]) => Promise<void>;

// Shared by all operations: the ports, and the state of this process.
export type Service = TenantsDeps & {
  reportedShares: RecentMap<string, number>;
  epochs: TokenEpochs;
  announce: Announce;
  readTenant: ReturnType<typeof createTenantRead>;
  adoptUsers(deps: Service, tenant_id: string): Promise<boolean>;
};

export const timestampOf = (ms: number): string => new Date(ms).toISOString();
