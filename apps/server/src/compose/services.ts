import {
  type Accounts,
  type AccountsDeps,
  createAccounts,
  createStorage,
  planOf,
  plansWith,
  type Storage,
} from '@stak/accounts';
import { type Agents, createAgents, createModels } from '@stak/agents';
import type { EndUserPrincipal, MemoryRateLimits, Revocations } from '@stak/http';
import { createInbox, type Inbox } from '@stak/inbox';
import {
  type Clock,
  type Ids,
  type Logger,
  type Owners,
  type Peers,
  type Sealer,
  whenKnown,
} from '@stak/kit';
import { createLake, createLakeReader, type LakeDeps } from '@stak/lake';
import { createMailer } from '@stak/mail';
import { createOutbound, type Outbound } from '@stak/outbound';
import type { Cursors, DynamoClient, Store } from '@stak/table';
import { createTasks } from '@stak/tasks';
import { createTenants, type Eraser, type Tenants, type TenantsDeps } from '@stak/tenants';
import { createWebhooks, type Webhooks } from '@stak/webhooks';
import type { ServerConfig } from '../config/config.ts';
import { findSpendLimit } from '../config/model-config.ts';
import type { SystemDeps } from '../http/system.ts';
import type { ExplorerDeps } from '../store/explorer/explorer.ts';
import { followed, insights } from '../store/lake/lake-tables.ts';
import { createTexts } from '../store/lake/lake-texts.ts';
import { ownTenant } from '../store/own-tenant.ts';
import { countedTables, ownersOfServices } from '../store/storage.ts';
import {
  emitAudit,
  ownInboxEraser,
  sendAlert,
  sendApproval,
  sendPlanNotice,
  sendReminder,
  sendSpendNotice,
  sendStorageNotice,
  sendToolsNotice,
  sendUsageNotice,
  withdrawApproval,
} from './notices.ts';
import { skillPorts } from './skill-ports.ts';

export type ComposeDeps = {
  store: Store;
  owners?: Owners;
  peers?: Peers;
  rates?: MemoryRateLimits; // of events, by source and account
  cursors: Cursors;
  clock: Clock;
  ids: Ids;
  log: Logger;
  sealer: Sealer;
  publicUrl: string;
  config: Pick<
    ServerConfig,
    | 'corsOrigins'
    | 'github'
    | 'google'
    | 'stripe'
    | 'outboundAllow'
    | 'models'
    | 'modelSpend'
    | 'webhooksPerMinute'
    | 'storageLimits'
    | 'defaultPlan'
    | 'mail'
    | 'requireVerifiedEmail'
    | 'signsUpByMail'
    | 'dueShards'
  >;
  passwordCost?: AccountsDeps['passwordCost'];
  outbound?: Outbound; // instead of the network
  system: Pick<SystemDeps, 'source' | 'ledger' | 'workers'>;
  // Without it, nothing is captured. With `wake`, a separate thread captures and maintains it.
  lake?: Pick<LakeDeps, 'objects' | 'scratch' | 'client' | 'source'> & { wake?(): void };
  announceRevoked?: Revocations['announce']; // notifies the other processes
  client: DynamoClient; // for scans of whole tables
  explorer?: Pick<ExplorerDeps, 'client' | 'control' | 'source' | 'ledger' | 'operators'>; // without it, there is no explorer
};

type Lake = Pick<
  ReturnType<typeof createLakeReader>,
  | 'api'
  | 'operatorApi'
  | 'errors'
  | 'tables'
  | 'subscriptions'
  | 'workers'
  | 'consumers'
  | 'eraser'
  | 'query'
  | 'history'
  | 'close'
>;

type Tasks = ReturnType<typeof createTasks>;
export type OpenServices = {
  outbound: Outbound;
  mcpOutbound: Outbound;
  accounts: Accounts;
  tenants: Tenants;
  inbox: Inbox;
  webhooks: Webhooks;
  tasks: Tasks;
  agents: Agents;
  storage: Storage;
  lake?: Lake;
};
type Uses<Name extends keyof OpenServices> = Pick<OpenServices, Name>;

// Services use each other only through the functions that they are given here. One that is used by a service above it
// is used when that is called, not when it is created.
export function openServices(deps: ComposeDeps): OpenServices {
  const { cursors, config, log } = deps;
  const outbound = deps.outbound ?? createOutbound({ allow: config.outboundAllow });
  const mcpOutbound =
    deps.outbound ?? createOutbound({ allow: config.outboundAllow, maxResponseBytes: 1024 * 1024 });
  const inbox = createInbox({ ...baseOf(deps), cursors });
  const hasRoom = (accountId: string, bytes: number) => storage.hasRoom(accountId, bytes);

  const accounts: Accounts = openAccounts(deps, {
    outbound,
    erasers: () => erasers,
    endAccess: async (accountId, userId) => {
      const isOwn = accountId === userId;
      const onlyOf = isOwn ? undefined : { made_by: userId };
      await tasks.operations.revokeFeed({ kind: 'account', accountId }, onlyOf);
      if (isOwn) await tenants.revokeTokensOf(accountId);
    },
    checkEndUser: (claims, fresh) =>
      claims.tenant === ownTenant ||
      whenKnown(tenants.isTokenRevoked(claims, fresh), isRevoked => !isRevoked),
    resolveTenantSignIn: request => tenants.resolveSignIn(request),
    onAudit: (...entry) => emitAudit(webhooks.operations.emit, log)(...entry),
    readStorage: accountId => storage.read(accountId),
    countTenants: accountId => tenants.countTenants(accountId),
  });
  const tenants: Tenants = openTenants(deps, {
    accounts,
    inbox,
    erasers: () => erasers.filter(eraser => eraser !== tenants.eraser),
    checkSettings: (...settings) => agents.checkSettings(...settings),
    accountSkills: () => agents.accountSkills,
    endAccess: (tenantId, userId) => tasks.operations.revokeFeed({ kind: 'endUser', tenantId, userId }),
  });
  const webhooks = openWebhooks(deps, { accounts, inbox, outbound, hasRoom });
  const tasks = openTasks(deps, { accounts, tenants, inbox, webhooks });
  const storage = openStorage(deps, { accounts, tenants, inbox, webhooks });
  const lake = deps.lake && openLake(deps, deps.lake, { accounts, tenants });
  const opened = { outbound, mcpOutbound, accounts, tenants, inbox, webhooks, tasks };
  const agents = openAgents(deps, { ...opened, lake, hasRoom });
  const erasers: readonly Eraser[] = [
    webhooks.eraser,
    inbox.eraser,
    ownInboxEraser(inbox.eraser.eraseUser),
    tasks.eraser,
    agents.eraser,
    tenants.eraser,
    // Last: it follows what the others have erased.
    ...(lake ? [lake.eraser] : []),
    { name: 'storage', eraseAccount: async id => storage.erase(id).then(() => 'done') },
  ];
  const services = { ...opened, agents, storage };
  return lake ? { ...services, lake } : services;
}

const baseOf = ({ store, clock, ids, log, owners }: ComposeDeps) => ({ store, clock, ids, log, owners });

const noticeDepsOf = ({ inbox, accounts }: Uses<'inbox' | 'accounts'>) => ({
  post: inbox.operations,
  mail: accounts.notices,
});

type AccountsUses = Pick<
  AccountsDeps,
  | 'outbound'
  | 'erasers'
  | 'endAccess'
  | 'checkEndUser'
  | 'resolveTenantSignIn'
  | 'onAudit'
  | 'readStorage'
  | 'countTenants'
>;
function openAccounts(deps: ComposeDeps, uses: AccountsUses): Accounts {
  const { sealer, publicUrl, config } = deps;
  return createAccounts({
    ...baseOf(deps),
    ...uses,
    sealer,
    publicUrl,
    allowedOrigins: config.corsOrigins,
    announceRevoked: async revoked => {
      // Also what the account may read as a user of our own tenant.
      await deps.announceRevoked?.(revoked, { tenant: ownTenant, user: revoked.account });
    },
    github: config.github,
    google: config.google,
    stripe: config.stripe,
    ...(config.mail && {
      mail: { mailer: createMailer(config.mail), brand: { ...config.mail.brand, url: publicUrl } },
    }),
    signsUpByMail: config.signsUpByMail,
    passwordCost: deps.passwordCost,
    storageLimits: config.storageLimits,
    defaultPlan: config.defaultPlan,
  });
}

type Grant = Parameters<Accounts['mintEndUserToken']>[0];

export const mintEndUserTokenOf =
  ({ clock }: ComposeDeps, accounts: Accounts) =>
  async (grant: Grant) => {
    const { token, expiresIn } = await accounts.mintEndUserToken(grant);
    return { token, expires_at: new Date(clock.now() + expiresIn * 1000).toISOString() };
  };

type TenantsUses = Uses<'accounts' | 'inbox'> &
  Pick<TenantsDeps, 'erasers' | 'checkSettings' | 'accountSkills' | 'endAccess'>;
const openTenants = (deps: ComposeDeps, { accounts, inbox, ...uses }: TenantsUses): Tenants =>
  createTenants({
    ...baseOf(deps),
    ...uses,
    mintEndUserToken: mintEndUserTokenOf(deps, accounts),
    audit: accounts.audit.record,
    announceRevoked: deps.announceRevoked,
    planOf: accounts.readPlan,
    onShareUsed: sendPlanNotice(noticeDepsOf({ inbox, accounts })),
    portal: {
      publicUrl: deps.publicUrl,
      sealer: deps.sealer,
      issuers: accounts.issuers,
      ...(accounts.mail && {
        mail: {
          ...accounts.mail,
          mayName: async accountId => !deps.config.requireVerifiedEmail || accounts.isVerified(accountId),
        },
      }),
      listInboxes: inbox.operations.list,
    },
  });

type HasRoom = Pick<Storage, 'hasRoom'>;
function openWebhooks(
  deps: ComposeDeps,
  { accounts, inbox, outbound, hasRoom }: Uses<'accounts' | 'inbox' | 'outbound'> & HasRoom,
): Webhooks {
  const noticeDeps = noticeDepsOf({ inbox, accounts });
  const webhooks: Webhooks = createWebhooks({
    ...baseOf(deps),
    cursors: deps.cursors,
    sealer: deps.sealer,
    outbound,
    publicUrl: deps.publicUrl,
    planOf: accounts.readPlan,
    usageOf: async userId => {
      const { usageThisMonth: events, usagePeriodStart: since } = await accounts.usage.read(userId);
      return { events, since };
    },
    usageStep: accounts.usage.addStep,
    requestsPerSource: deps.config.webhooksPerMinute,
    rates: deps.rates,
    raiseAlert: sendAlert({
      ...noticeDeps,
      describeConnection: async ({ userId, sourceId, connectionId }) => {
        const [source, connection] = await Promise.all([
          webhooks.sources.getById(sourceId),
          webhooks.connections.getById(connectionId),
        ]);
        return source?.userId === userId ? { source: source.name, connection: connection?.name } : {};
      },
    }),
    onShareUsed: sendUsageNotice(noticeDeps),
    hasRoom,
    changePosition: deps.system.source.position,
    dueShards: deps.config.dueShards.webhooks,
  });
  return webhooks;
}

function openTasks(
  deps: ComposeDeps,
  { accounts, tenants, inbox, webhooks }: Uses<'accounts' | 'tenants' | 'inbox' | 'webhooks'>,
): Tasks {
  return createTasks({
    ...baseOf(deps),
    cursors: deps.cursors,
    isTenantActive: async tenantId => tenantId === ownTenant || tenants.isActive(tenantId),
    isMember: accounts.isMember,
    lastRevokedAt: tenants.lastRevokedAt,
    publicUrl: deps.publicUrl,
    describeOwner: async owner => {
      if (owner.kind === 'account') return accounts.users.readProfile(owner.accountId);
      const { tenantId, userId } = owner;
      return tenantId === ownTenant
        ? accounts.users.readProfile(userId)
        : tenants.describeUser(tenantId, userId);
    },
    remind: sendReminder({
      post: inbox.operations,
      emit: webhooks.operations.emit,
      accountOf: tenants.accountOf,
    }),
  });
}

type AgentsUses = Omit<OpenServices, 'agents' | 'storage' | 'lake'> & HasRoom & { lake: Lake | undefined };
function openAgents(deps: ComposeDeps, uses: AgentsUses): Agents {
  const { config } = deps;
  const { accounts, tenants, inbox, outbound, mcpOutbound, hasRoom } = uses;
  const approvals = { post: inbox.operations, accountOf: tenants.accountOf, adminsOf: tenants.adminsOf };
  return createAgents({
    ...baseOf(deps),
    peers: deps.peers,
    dueShards: config.dueShards.agents,
    sealer: deps.sealer,
    outbound,
    mcpOutbound,
    publicUrl: deps.publicUrl,
    enterTenant: tenants.enterTenant,
    resolveChannel: tenants.resolveChannel,
    findChannelUser: tenants.findChannelUser,
    hasRoom,
    models: createModels(config.models, deps.clock),
    spendPerDayUsd: async accountId =>
      findSpendLimit(config.modelSpend, accountId, await accounts.readPlan(accountId)),
    onShareUsed: sendSpendNotice(noticeDepsOf(uses)),
    roleOf: tenants.roleOf,
    askApproval: sendApproval(approvals),
    withdrawApproval: withdrawApproval(approvals),
    askAboutTools: sendToolsNotice(approvals),
    audit: accounts.audit.record,
    ports: skillPorts(uses),
  });
}

function openStorage(
  deps: ComposeDeps,
  { accounts, tenants, inbox, webhooks }: Uses<'accounts' | 'tenants' | 'inbox' | 'webhooks'>,
): Storage {
  const { defaultPlan, storageLimits } = deps.config;
  const plans = plansWith(storageLimits);
  return createStorage({
    ...baseOf(deps),
    client: deps.client,
    source: deps.system.source,
    tables: countedTables,
    services: ownersOfServices,
    accountOf: {
      tenant: tenants.payerOf,
      source: webhooks.ownerOfSource,
      connection: webhooks.ownerOfConnection,
    },
    // An account that is being deleted keeps its limits until its data are gone.
    planOf: async accountId => {
      const profile = await accounts.users.readProfile(accountId);
      return profile?.deletingAt === undefined && profile ? planOf(profile, defaultPlan) : undefined;
    },
    limitOf: plan => plans[plan].storageBytes,
    notify: sendStorageNotice(noticeDepsOf({ inbox, accounts }), deps.clock),
  });
}

function openLake(
  deps: ComposeDeps,
  { wake, ...location }: NonNullable<ComposeDeps['lake']>,
  { accounts, tenants }: Uses<'accounts' | 'tenants'>,
): Lake {
  const { sealer, publicUrl } = deps;
  const lakeDeps = {
    ...baseOf(deps),
    ...location,
    sealer,
    publicUrl,
    tables: followed,
    insights,
    texts: createTexts(deps.store),
    textsSetting: accounts.lakeTexts,
    tenantsOf: tenants.tenantsOf,
    payerOf: async ({ tenantId, userId }: EndUserPrincipal) =>
      tenantId === ownTenant ? userId : tenants.payerOf(tenantId),
    queryLimits: async (accountId: string) => (await accounts.readPlan(accountId)).query,
  };
  return wake ? createLakeReader({ ...lakeDeps, wake }) : createLake(lakeDeps);
}
