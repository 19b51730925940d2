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
import { createTenants, type Eraser, type Tenants } from '@stak/tenants';
import { createWebhooks, type Webhooks } from '@stak/webhooks';
import type { ServerConfig } from './config.ts';
import type { ExplorerDeps } from './explorer/explorer.ts';
import { followed, insights } from './lake-tables.ts';
import { createTexts } from './lake-texts.ts';
import { findSpendLimit } from './model-config.ts';
import {
  emitAudit,
  ownInboxEraser,
  ownTenant,
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
import { countedTables, ownersOfServices } from './storage.ts';
import type { SystemDeps } from './system.ts';

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
  | 'close'
>;

// Services use each other only through the functions that they are given here.
export type OpenServices = {
  outbound: Outbound;
  mcpOutbound: Outbound;
  accounts: Accounts;
  tenants: Tenants;
  inbox: Inbox;
  webhooks: Webhooks;
  tasks: ReturnType<typeof createTasks>;
  agents: Agents;
  storage: Storage;
  lake?: Lake;
};

// Created in this order. A service that needs a later one gets a function that looks it up when it is called.
export function openServices(deps: ComposeDeps): OpenServices {
  const { cursors, config } = deps;
  const services = {} as OpenServices;
  services.outbound = deps.outbound ?? createOutbound({ allow: config.outboundAllow });
  services.mcpOutbound =
    deps.outbound ?? createOutbound({ allow: config.outboundAllow, maxResponseBytes: 1024 * 1024 });
  services.accounts = openAccounts(deps, services);
  services.tenants = openTenants(deps, services);
  services.inbox = createInbox({ ...baseOf(deps), cursors });
  services.webhooks = openWebhooks(deps, services);
  services.tasks = openTasks(deps, services);
  services.agents = openAgents(deps, services);
  services.storage = openStorage(deps, services);
  if (deps.lake) services.lake = openLake(deps, deps.lake, services);
  return services;
}

const baseOf = ({ store, clock, ids, log, owners }: ComposeDeps) => ({ store, clock, ids, log, owners });

const erasersOf = ({ lake, storage, ...services }: OpenServices): readonly Eraser[] => [
  services.webhooks.eraser,
  services.inbox.eraser,
  ownInboxEraser(services.inbox.eraser.eraseUser),
  services.tasks.eraser,
  services.agents.eraser,
  services.tenants.eraser,
  // Last: it follows what the others have erased.
  ...(lake ? [lake.eraser] : []),
  { name: 'storage', eraseAccount: async id => storage.erase(id).then(() => 'done') },
];

function openAccounts(deps: ComposeDeps, services: OpenServices): Accounts {
  const { log, sealer, publicUrl, config } = deps;
  return createAccounts({
    ...baseOf(deps),
    sealer,
    publicUrl,
    allowedOrigins: config.corsOrigins,
    erasers: () => erasersOf(services),
    endAccess: async accountId => {
      await services.tasks.operations.revokeFeed({ kind: 'account', accountId });
      await services.tenants.revokeTokensOf(accountId);
    },
    checkEndUser: (claims, fresh) =>
      claims.tenant === ownTenant ||
      whenKnown(services.tenants.isTokenRevoked(claims, fresh), isRevoked => !isRevoked),
    announceRevoked: async revoked => {
      // Also what the account may read as a user of our own tenant.
      await deps.announceRevoked?.(revoked, { tenant: ownTenant, user: revoked.account });
    },
    github: config.github,
    google: config.google,
    stripe: config.stripe,
    outbound: services.outbound,
    ...(config.mail && {
      mail: { mailer: createMailer(config.mail), brand: { ...config.mail.brand, url: publicUrl } },
    }),
    signsUpByMail: config.signsUpByMail,
    resolveTenantSignIn: request => services.tenants.resolveSignIn(request),
    passwordCost: deps.passwordCost,
    onAudit: (...entry) => emitAudit(services.webhooks.operations.emit, log)(...entry),
    storageLimits: config.storageLimits,
    defaultPlan: config.defaultPlan,
    readStorage: accountId => services.storage.read(accountId),
    countTenants: accountId => services.tenants.countTenants(accountId),
  });
}

type Grant = Parameters<Accounts['mintEndUserToken']>[0];

export const mintEndUserTokenOf =
  ({ clock }: ComposeDeps, { accounts }: OpenServices) =>
  async (grant: Grant) => {
    const { token, expiresIn } = await accounts.mintEndUserToken(grant);
    return { token, expires_at: new Date(clock.now() + expiresIn * 1000).toISOString() };
  };

const openTenants = (deps: ComposeDeps, services: OpenServices): Tenants =>
  createTenants({
    ...baseOf(deps),
    mintEndUserToken: mintEndUserTokenOf(deps, services),
    erasers: () => erasersOf(services).filter(eraser => eraser !== services.tenants.eraser),
    audit: services.accounts.audit.record,
    announceRevoked: deps.announceRevoked,
    checkSettings: (...settings) => services.agents.checkSettings(...settings),
    planOf: services.accounts.readPlan,
    onShareUsed: share => sendPlanNotice(noticeDepsOf(services))(share),
    accountSkills: () => services.agents.accountSkills,
    endAccess: (tenantId, userId) =>
      services.tasks.operations.revokeFeed({ kind: 'endUser', tenantId, userId }),
    portal: {
      publicUrl: deps.publicUrl,
      sealer: deps.sealer,
      issuers: services.accounts.issuers,
      ...(services.accounts.mail && {
        mail: {
          ...services.accounts.mail,
          mayName: async accountId =>
            !deps.config.requireVerifiedEmail || services.accounts.isVerified(accountId),
        },
      }),
      listInboxes: tenantId => services.inbox.operations.list(tenantId),
    },
  });

const noticeDepsOf = ({ inbox, accounts }: OpenServices) => ({
  post: inbox.operations,
  mail: accounts.notices,
});

function openWebhooks(deps: ComposeDeps, services: OpenServices): Webhooks {
  const { accounts } = services;
  const noticeDeps = noticeDepsOf(services);
  return createWebhooks({
    ...baseOf(deps),
    cursors: deps.cursors,
    sealer: deps.sealer,
    outbound: services.outbound,
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
          services.webhooks.sources.getById(sourceId),
          services.webhooks.connections.getById(connectionId),
        ]);
        return source?.userId === userId ? { source: source.name, connection: connection?.name } : {};
      },
    }),
    onShareUsed: sendUsageNotice(noticeDeps),
    hasRoom: (userId, bytes) => services.storage.hasRoom(userId, bytes),
    changePosition: deps.system.source.position,
    dueShards: deps.config.dueShards.webhooks,
  });
}

function openTasks(deps: ComposeDeps, services: OpenServices): OpenServices['tasks'] {
  const { accounts, tenants, inbox, webhooks } = services;
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

function openAgents(deps: ComposeDeps, services: OpenServices): Agents {
  const { config } = deps;
  const { accounts, tenants, inbox, tasks, webhooks } = services;
  const approvals = { post: inbox.operations, accountOf: tenants.accountOf, adminsOf: tenants.adminsOf };
  return createAgents({
    ...baseOf(deps),
    peers: deps.peers,
    dueShards: config.dueShards.agents,
    sealer: deps.sealer,
    outbound: services.outbound,
    mcpOutbound: services.mcpOutbound,
    enterTenant: tenants.enterTenant,
    resolveChannel: tenants.resolveChannel,
    findChannelUser: tenants.findChannelUser,
    hasRoom: (accountId, bytes) => services.storage.hasRoom(accountId, bytes),
    models: createModels(config.models, deps.clock),
    spendPerDayUsd: async accountId =>
      findSpendLimit(config.modelSpend, accountId, await accounts.readPlan(accountId)),
    onShareUsed: sendSpendNotice(noticeDepsOf(services)),
    roleOf: tenants.roleOf,
    askApproval: sendApproval(approvals),
    withdrawApproval: withdrawApproval(approvals),
    askAboutTools: sendToolsNotice(approvals),
    audit: accounts.audit.record,
    ports: skillPorts({ tasks, inbox, webhooks, lake: deps.lake && (() => services.lake!) }),
  });
}

function openStorage(deps: ComposeDeps, services: OpenServices): Storage {
  const { accounts, tenants, webhooks } = services;
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
    notify: sendStorageNotice(noticeDepsOf(services), deps.clock),
  });
}

function openLake(
  deps: ComposeDeps,
  { wake, ...location }: NonNullable<ComposeDeps['lake']>,
  services: OpenServices,
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
    textsSetting: services.accounts.lakeTexts,
    tenantsOf: services.tenants.tenantsOf,
    payerOf: async ({ tenantId, userId }: EndUserPrincipal) =>
      tenantId === ownTenant ? userId : services.tenants.payerOf(tenantId),
    queryLimits: async (accountId: string) => (await services.accounts.readPlan(accountId)).query,
  };
  return wake ? createLakeReader({ ...lakeDeps, wake }) : createLake(lakeDeps);
}
