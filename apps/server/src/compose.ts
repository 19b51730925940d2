import {
  type AccountsDeps,
  createAccounts,
  createStorage,
  planOf,
  plansWith,
  type Storage,
  storageTable,
} from '@stak/accounts';
import { createAgents, createModels } from '@stak/agents';
import {
  type AnyEndpoint,
  type Authenticate,
  type MemoryRateLimits,
  type Principal,
  type Revocations,
  withProblems,
} from '@stak/http';
import { createInbox } from '@stak/inbox';
import type { Clock, ErrorCatalogue, Ids, Logger, Owners, Peers, Sealer, Worker } from '@stak/kit';
import { createLake, createLakeReader, type LakeDeps } from '@stak/lake';
import { createMailer } from '@stak/mail';
import { createOutbound } from '@stak/outbound';
import type { Alarm, Following, Subscription } from '@stak/streams';
import type { AnyTable, Cursors, DynamoClient, Store } from '@stak/table';
import { createTasks } from '@stak/tasks';
import { type Audit, createTenants, type Eraser, type Tenants } from '@stak/tenants';
import { createWebhooks, type Webhooks } from '@stak/webhooks';
import { downloadEndpoint } from './archive/download.ts';
import type { ServerConfig } from './config.ts';
import { createExplorer, type Explorer, type ExplorerDeps } from './explorer/explorer.ts';
import { followed, insights } from './followed.ts';
import { withKeyTenants } from './key-tenants.ts';
import {
  emitAudit,
  ownInboxEndpoints,
  ownInboxEraser,
  ownTenant,
  tellAlert,
  tellApproval,
  tellEvents,
  tellReminder,
  tellStorage,
  withdrawApproval,
} from './notices.ts';
import { permissionsEndpoint } from './permissions.ts';
import { skillPorts } from './skill-ports.ts';
import { countedTables, ownersOfServices, withStorageLimit } from './storage.ts';
import { type SystemDeps, systemEndpoints } from './system.ts';
import { withTrail } from './trail.ts';
import { withVerifiedEmail } from './verified-email.ts';

export type ComposeDeps = {
  store: Store;
  owners?: Owners;
  peers?: Peers;
  rates?: MemoryRateLimits; // events of sources and accounts
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
  >;
  passwordCost?: AccountsDeps['passwordCost'];
  system: Pick<SystemDeps, 'source' | 'ledger' | 'workers'>;
  // None: nothing is captured. With `wake`, a thread of its own captures and keeps it.
  lake?: Pick<LakeDeps, 'objects' | 'scratch' | 'client' | 'source'> & { wake?(): void };
  announceRevoked?: Revocations['announce']; // to the other processes
  client: DynamoClient; // for what scans whole tables
  explorer?: Pick<ExplorerDeps, 'client' | 'control' | 'source' | 'ledger' | 'operators'>; // none: nobody looks
};

// What each service provides to the code that serves, runs or documents it.
export type Service = {
  api: readonly AnyEndpoint[];
  errors: ErrorCatalogue;
  tables: readonly AnyTable[];
  subscriptions: readonly Subscription[];
  followings?: readonly Following[]; // what every process hears by itself
  workers: readonly Worker[];
};

export type Services = {
  all: readonly Service[];
  ownEndpoints: readonly AnyEndpoint[];
  explorer?: Explorer;
  storage: Storage;
  portalPageOf: Tenants['portalPageOf']; // for the page that a tenant's people see
  authenticate: Authenticate;
  onAlarm(alarm: Alarm): void; // a consumer has lost records
  lakeConsumers: readonly { name: string }[]; // of a thread of its own
  // Makes sure, before the first request, of what the first request needs. The tables are there.
  prepare(): Promise<void>;
  // Ends what they hold besides the store, when the workers have stopped.
  close(): Promise<void>;
};

// The services know each other by the functions they are given here, and by nothing else.
export function composeServices(deps: ComposeDeps): Services {
  const { store, cursors, clock, ids, log, sealer, publicUrl, config } = deps;
  const base = { store, clock, ids, log, owners: deps.owners };
  const outbound = createOutbound({ allow: config.outboundAllow });
  const mcpOutbound = createOutbound({ allow: config.outboundAllow, maxResponseBytes: 1024 * 1024 });
  // Asked for when something is erased, when all of them are there.
  const erasers = (): readonly Eraser[] => [
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

  const accounts = createAccounts({
    ...base,
    sealer,
    publicUrl,
    allowedOrigins: config.corsOrigins,
    erasers,
    checkEndUser: async (claims, fresh) =>
      claims.tenant === ownTenant || !(await tenants.isTokenRevoked(claims, fresh)),
    announceRevoked: async revoked => {
      // Also what the account may read as a user of our own tenant.
      await deps.announceRevoked?.(revoked, { tenant: ownTenant, user: revoked.account });
    },
    github: config.github,
    google: config.google,
    stripe: config.stripe,
    outbound,
    ...(config.mail && {
      mail: { mailer: createMailer(config.mail), brand: { ...config.mail.brand, url: publicUrl } },
    }),
    signsUpByMail: config.signsUpByMail,
    resolveTenantSignIn: request => tenants.resolveSignIn(request),
    passwordCost: deps.passwordCost,
    onAudit: (...entry) => emitAudit(webhooks.operations.emit, log)(...entry),
    storageLimits: config.storageLimits,
    defaultPlan: config.defaultPlan,
    readStorage: accountId => storage.read(accountId),
  });
  const plans = plansWith(config.storageLimits);
  const readPlan = async (accountId: string) => {
    const profile = await accounts.users.readProfile(accountId);
    return plans[profile ? planOf(profile, config.defaultPlan) : 'free'];
  };
  const mintEndUserToken = async (grant: Parameters<typeof accounts.mintEndUserToken>[0]) => {
    const { token, expiresIn } = await accounts.mintEndUserToken(grant);
    return { token, expires_at: new Date(clock.now() + expiresIn * 1000).toISOString() };
  };
  const audit: Audit = accounts.audit.record;
  const tenants = createTenants({
    ...base,
    mintEndUserToken,
    erasers: () => erasers().filter(eraser => eraser !== tenants.eraser),
    audit,
    announceRevoked: deps.announceRevoked,
    checkSettings: (...settings) => agents.checkSettings(...settings),
    accountSkills: () => agents.accountSkills,
    portal: {
      publicUrl,
      sealer,
      issuers: accounts.issuers,
      ...(accounts.mail && { mail: accounts.mail }),
      listInboxes: tenantId => inbox.operations.list(tenantId),
    },
  });
  // Accounts are the users of a tenant of ours, which belongs to nobody.
  const enterTenant = async (principal: Principal, tenantId: string) =>
    principal.kind === 'endUser' && principal.tenantId === ownTenant && tenantId === ownTenant
      ? { tenant_id: ownTenant, account_id: principal.userId }
      : tenants.enterTenant(principal, tenantId);

  const inbox = createInbox({ ...base, cursors, enterTenant });
  const telling = { post: inbox.operations, mail: accounts.notices };
  const webhooks: Webhooks = createWebhooks({
    ...base,
    cursors,
    sealer,
    outbound,
    publicUrl,
    planOf: readPlan,
    usageOf: async userId => {
      const { usageThisMonth: events, usagePeriodStart: since } = await accounts.usage.read(userId);
      return { events, since };
    },
    usageStep: accounts.usage.addStep,
    requestsPerSource: config.webhooksPerMinute,
    rates: deps.rates,
    raiseAlert: tellAlert({
      ...telling,
      describeConnection: async ({ userId, sourceId, connectionId }) => {
        const [source, connection] = await Promise.all([
          webhooks.sources.getById(sourceId),
          webhooks.connections.getById(connectionId),
        ]);
        return source?.userId === userId ? { source: source.name, connection: connection?.name } : {};
      },
    }),
    onShareUsed: tellEvents(telling),
    hasRoom: (userId, bytes) => storage.hasRoom(userId, bytes),
    changePosition: deps.system.source.position,
  });
  const tasks = createTasks({
    ...base,
    cursors,
    enterTenant,
    publicUrl,
    describeOwner: async owner => {
      if (owner.kind === 'account') return accounts.users.readProfile(owner.accountId);
      const { tenantId, userId } = owner;
      return tenantId === ownTenant
        ? accounts.users.readProfile(userId)
        : tenants.describeUser(tenantId, userId);
    },
    remind: tellReminder({
      post: inbox.operations,
      emit: webhooks.operations.emit,
      accountOf: tenants.accountOf,
    }),
  });

  const approvalRooms = {
    post: inbox.operations,
    accountOf: tenants.accountOf,
    adminsOf: tenants.adminsOf,
  };
  const agents = createAgents({
    ...base,
    peers: deps.peers,
    sealer,
    outbound,
    mcpOutbound,
    enterTenant: tenants.enterTenant,
    resolveChannel: tenants.resolveChannel,
    findChannelUser: tenants.findChannelUser,
    hasRoom: (accountId, bytes) => storage.hasRoom(accountId, bytes),
    models: createModels(config.models, clock),
    spendPerDayUsd: async accountId =>
      config.modelSpend[accountId] ??
      config.modelSpend[(await accounts.users.readProfile(accountId))?.plan ?? 'free'],
    roleOf: tenants.roleOf,
    askApproval: tellApproval(approvalRooms),
    withdrawApproval: withdrawApproval(approvalRooms),
    ports: skillPorts({ tasks, inbox, webhooks, lake: deps.lake && (() => lake!) }),
  });

  const storage: Storage = createStorage({
    ...base,
    client: deps.client,
    source: deps.system.source,
    tables: countedTables,
    services: ownersOfServices,
    accountOf: {
      tenant: tenants.payerOf,
      source: webhooks.ownerOfSource,
      connection: webhooks.ownerOfConnection,
    },
    // What an account that is being deleted still has goes with it.
    planOf: async accountId => {
      const profile = await accounts.users.readProfile(accountId);
      return profile?.deletingAt === undefined && profile ? planOf(profile, config.defaultPlan) : undefined;
    },
    limitOf: plan => plans[plan].storageBytes,
    notify: tellStorage(telling, clock),
  });
  const verified = <S extends { api: readonly AnyEndpoint[] }>(service: S) =>
    withVerifiedEmail(
      {
        isRequired: config.requireVerifiedEmail,
        hasModels: Boolean(
          config.models.anthropic ?? config.models.bedrock ?? config.models.openaiCompatible,
        ),
        isVerified: accounts.isVerified,
        accountOf: tenants.payerOf,
      },
      service,
    );
  const limited = <S extends { api: readonly AnyEndpoint[] }>(service: S) =>
    withStorageLimit({ storage, accountOf: tenants.payerOf }, verified(service));

  const lake = deps.lake && composeLake(deps.lake);

  function composeLake({ wake, ...location }: NonNullable<ComposeDeps['lake']>) {
    const { tenantsOf } = tenants;
    const about = { sealer, publicUrl, tables: followed, insights };
    const queryLimits = async (accountId: string) => (await readPlan(accountId)).query;
    const deps = { ...base, ...location, ...about, tenantsOf, enterTenant, queryLimits };
    return wake ? { ...createLakeReader({ ...deps, wake }), onAlarm() {} } : createLake(deps);
  }

  const explorer = deps.explorer && createExplorer({ ...base, cursors, ...deps.explorer });

  // What `enterTenant` says to those who are not let in.
  const gated = <S extends { api: readonly AnyEndpoint[] }>(service: S) => ({
    ...service,
    api: withProblems(service.api, ['tenants.not_found', 'tenants.suspended']),
  });
  const all: readonly Service[] = [
    accounts,
    limited({ ...tenants, api: withAccountsProblems(tenants.api) }),
    ...[gated(inbox), webhooks, gated(tasks), { ...agents, api: tenants.guardManagement(agents.api) }].map(
      service => withTrail({ audit, log, payerOf: tenants.payerOf }, limited(service)),
    ),
    { ...storage, api: [], errors: accounts.errors, tables: [storageTable] },
    ...(lake ? [gated(lake)] : []),
  ];
  const ownEndpoints: readonly AnyEndpoint[] = [
    // For as long as an access token, and no longer than the session or the key that it was asked for with.
    ...ownInboxEndpoints(
      grant => mintEndUserToken({ tenant: ownTenant, ttlSeconds: 15 * 60, ...grant }),
      inbox.operations,
    ),
    downloadEndpoint({ store, client: deps.client, sealer, clock, accounts }),
    ...systemEndpoints({
      ...base,
      ...deps.system,
      subscriptions: [
        ...all.flatMap(service => (service === lake ? [] : service.subscriptions)),
        ...(lake?.consumers ?? []),
      ],
      isOperator: caller => explorer?.isOperator(caller) ?? false,
    }),
    ...(explorer?.api ?? []),
    permissionsEndpoint(() => [...ownEndpoints, ...all.flatMap(service => service.api)]),
  ];
  return {
    all,
    storage,
    portalPageOf: tenants.portalPageOf,
    onAlarm: alarm => lake?.onAlarm(alarm),
    lakeConsumers: lake?.consumers ?? [],
    ownEndpoints,
    ...(explorer && { explorer }),
    authenticate: accounts.authenticate,
    prepare: async () => void (await Promise.all([accounts.prepare(), webhooks.prepare()])),
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

// What accounts answer to routes of tenants: wait with mail, or that a provider is out of order.
const fromAccounts: Readonly<Record<string, readonly string[]>> = {
  'tenants.requestSignIn': ['accounts.too_many_attempts'],
  'tenants.createInvitation': ['accounts.too_many_attempts'],
  'tenants.startPortalSignIn': ['accounts.provider_failed', 'accounts.provider_not_configured'],
};
const withAccountsProblems = (endpoints: readonly AnyEndpoint[]): AnyEndpoint[] =>
  endpoints.flatMap(one => withProblems([one], fromAccounts[one.route.operationId ?? ''] ?? []));

// Every route of theirs, with what the store under all of them may answer.
export const endpointsOf = ({ ownEndpoints, all }: Pick<Services, 'ownEndpoints' | 'all'>): AnyEndpoint[] =>
  withProblems(withKeyTenants([...ownEndpoints, ...all.flatMap(service => service.api)]), ['table.busy']);
