import type { Revoked } from '@stak/http';
import type { Clock, Ids, Logger, Owners, Sealer } from '@stak/kit';
import type { Store, WriteStep } from '@stak/table';
import type { createTenantRead } from './access/gate.ts';
import type { TokenEpochs } from './access/token-epochs.ts';
import type { Eraser } from './erasure/erasers.ts';
import type { TenantSettings } from './tenants/settings.ts';

export type MintEndUserToken = (claims: {
  tenant: string;
  sub: string;
  scope: string; // separated by spaces
  ttlSeconds: number;
  session?: string; // of the portal: the token ends with it
}) => Promise<{ token: string; expires_at: string }>;

// Mail that tenants send to their own people. Steps belong into the transaction that causes it.
export type TenantMail = {
  steps(mail: {
    kind: 'tenant.sign_in_requested' | 'tenant.sign_in' | 'tenant.invited';
    to: string;
    details: Readonly<Record<string, string>>;
    token?: string;
    keptS: number;
  }): Record<string, WriteStep>;
  ring(): void; // when the transaction is made
  // Whether strangers may read what an account calls itself.
  mayName(account: string): Promise<boolean>;
  // Refuses what is too much for an address that mail is sent to, or for the caller.
  tryMail(to: { email: string; address: string | undefined; account: string }): Promise<unknown>;
  tryInvitation(to: { email: string; account: string }): Promise<unknown>;
};

type IssuerOwner = { name: 'tenant'; organisationId: string };
type IssuerClient = { issuer: string; clientId: string; version: string; openSecret(): string };

// Sign-in through OpenID Connect providers that tenants chose.
type TenantIssuers = {
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
  issuers?: TenantIssuers; // none: nobody signs in through a provider
  mail?: TenantMail; // none: nobody signs in by mail
  listInboxes(tenantId: string): Promise<readonly { inbox_key: string; title: string }[]>;
};

// What was done, as the audit trail of an account keeps it.
export type AuditRecord = {
  action: string; // the operation: `tenants.create_user`
  target: string; // the path of what was changed
  via: string; // the kind of credential: session, api_key, invitation, end_user or openid
  credentialId: string;
  by?: string; // who signed in, or made the key
  address?: string;
  requestId?: string;
};
export type Audit = (accountId: string, entry: AuditRecord) => Promise<void>;

export type TenantsDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners?: Owners; // which of those that erase are gone; without it leases run out
  mintEndUserToken: MintEndUserToken;
  // Of the other services. Asked for at every use, because they may be made after this one.
  erasers: () => readonly Eraser[];
  audit: Audit;
  // What settings ask for and no service has, by field. Without it, anything that has the right shape is taken.
  checkSettings?(
    tenantId: string,
    before: TenantSettings,
    after: TenantSettings,
  ): Promise<readonly { field: string; detail: string }[]>;
  // What the plan of an account has room for; null: no limit. Without it, nothing is limited.
  planOf?(accountId: string): Promise<{ tenants: number | null; usersPerTenant: number | null }>;
  accountSkills?(): readonly string[]; // that tell of the account, not of the tenant: its admins do not enable them
  // Tells other processes ahead that tokens are revoked or a tenant is shut, so that open event streams end.
  announceRevoked?: (...revoked: Revoked[]) => Promise<void>;
  portal?: PortalDeps; // none: there is no portal
};

type Announce = (...revoked: Revoked[]) => Promise<void>;

// What the operations get: the ports, and what this process remembers.
export type Service = TenantsDeps & {
  epochs: TokenEpochs;
  announce: Announce;
  readTenant: ReturnType<typeof createTenantRead>;
};

export const timestampOf = (ms: number): string => new Date(ms).toISOString();
