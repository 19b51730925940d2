import { createEngine, createHttpServer } from '@stak/engine';
import {
  type AuditLine,
  createApi,
  createMemoryIdempotency,
  type Principal,
  unguarded,
  type WriteAudit,
} from '@stak/http';
import { createIds, createLogger, createSealer, type ManualClock, manualClock, type Owners } from '@stak/kit';
import {
  type ControlPlane,
  createStore,
  createTables,
  type DynamoClient,
  tableErrors,
  type WriteStep,
  write,
} from '@stak/table';
import { awsClient } from '@stak/table/aws';
import {
  createTenants,
  type Eraser,
  type TenantMail,
  type Tenants,
  type TenantsDeps,
  tenantProblems,
  tenantsTable,
} from '../src/index.ts';
import { channelClaim } from '../src/tables.ts';

export type Target = { client: DynamoClient; control: ControlPlane; close(): Promise<void> };

async function embedded(): Promise<Target> {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  return { client: engine.client, control: engine, close: () => engine.close() };
}

async function overTheSdk(): Promise<Target> {
  const engine = await createEngine({ path: ':memory:', sweepIntervalMs: 0 });
  const server = createHttpServer(engine, { port: 0 });
  const { url } = await server.listen();
  const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };
  const client = awsClient({ region: 'us-east-1', endpoint: url, credentials });
  return {
    client,
    control: client,
    async close() {
      client.close();
      await server.close();
      await engine.close();
    },
  };
}

export const targets = { embedded, 'over the AWS SDK': overTheSdk };

const account = (name: string, scope: 'read' | 'write' | 'admin', via: 'session' | 'api_key'): Principal => ({
  kind: 'account',
  accountId: `usr_${name}`,
  scope,
  via,
  credentialId: `${name}-${scope}`,
});
const principals: Readonly<Record<string, Principal>> = {
  ann: account('ann', 'admin', 'session'),
  bob: account('bob', 'admin', 'session'),
  'ann-read': account('ann', 'read', 'api_key'),
  'ann-write': account('ann', 'write', 'api_key'),
};

export type Call = RequestInit & { as?: string; send?: unknown; ifMatch?: string; key?: string };
// biome-ignore lint/suspicious/noExplicitAny: what a test reads from an answer, it names itself.
type Answer = { status: number; body: any; etag: string; headers: Headers };

type SentMail = Parameters<TenantMail['steps']>[0];

type Audited = AuditLine & { accountId: string };

export type Fixture = {
  tenants: Tenants;
  mails: SentMail[]; // that are owed, in the order they were asked for
  mailTried: { email: string; address: string | undefined; account: string }[];
  unnamed: Set<string>; // accounts that strangers must not read the names of
  clock: ManualClock;
  target: Target;
  audited: Audited[];
  lines: string[];
  erasers: Eraser[];
  routes: ReturnType<typeof createApi>['routes'];
  call(method: string, path: string, init?: Call): Promise<Answer>;
  commit(steps: Readonly<Record<string, WriteStep>>): Promise<unknown>; // as the worker that sends mail does
};

type Given = {
  clock?: ManualClock;
  client?: DynamoClient;
  owners?: Owners;
  planOf?: TenantsDeps['planOf'];
  onShareUsed?: TenantsDeps['onShareUsed'];
};

// One process: its own caches and clock, over a table it may share with others.
export function openProcess(target: Target, given: Given = {}): Fixture {
  const { clock = manualClock(), client = target.client, owners, planOf, onShareUsed } = given;
  const audited: Audited[] = [];
  const lines: string[] = [];
  const erasers: Eraser[] = [];
  const log = createLogger({ clock, destination: { write: line => void lines.push(line) } });
  const minted = new Map<string, Principal & { issuedAt: number; expiresAt: number; session?: string }>();
  const mails: SentMail[] = [];
  const mailTried: Fixture['mailTried'] = [];
  const unnamed = new Set<string>();
  const store = createStore({ client, clock, random: () => 0 });
  const audit: WriteAudit = async (accountId, line) => void audited.push({ accountId, ...line });
  const tenants = createTenants({
    store,
    clock,
    ids: createIds({ clock }),
    log,
    owners,
    planOf,
    onShareUsed,
    audit,
    erasers: () => erasers,
    accountSkills: () => ['webhook_health'],
    portal: {
      publicUrl: 'https://stak.example',
      sealer: createSealer({ keys: [{ id: 'k1', secret: 'a secret, long enough' }] }),
      mail: {
        // Kept in the transaction's own table, so that it is made with it or not at all.
        steps(mail) {
          mails.push(mail);
          const item = { type: 'mail', channel_id: String(mails.length), tenant_id: '-' };
          return { [`mail ${mail.kind}`]: write.put(channelClaim, item) };
        },
        wake() {},
        mayName: async account => !unnamed.has(account),
        async tryMail(to) {
          mailTried.push(to);
        },
        async tryInvitation(to) {
          mailTried.push({ ...to, address: undefined });
        },
      },
      listInboxes: async () => [{ inbox_key: 'main', title: 'Main' }],
    },
    async mintEndUserToken({ tenant, sub, scope, ttlSeconds, session }) {
      const token = `user-${minted.size}`;
      const issuedAt = Math.floor(clock.now() / 1000);
      const expiresAt = issuedAt + ttlSeconds;
      minted.set(token, {
        kind: 'endUser',
        tenantId: tenant,
        userId: sub,
        scope,
        issuedAt,
        expiresAt,
        ...(session !== undefined && { session }),
      });
      return { token, expires_at: new Date(expiresAt * 1000).toISOString() };
    },
  });
  const { app, routes } = createApi({
    info: { title: 'Tenants', version: '1' },
    endpoints: tenants.api,
    guards: {
      ...unguarded,
      enterTenant: tenants.enterForRoute,
      payerOf: tenants.payerOf,
      audit,
      problemsOf: tenantProblems,
    },
    errors: [tenants.errors, tableErrors],
    clock,
    log,
    idempotency: createMemoryIdempotency({ clock }),
    async authenticate({ token }) {
      const user = minted.get(token);
      if (user?.kind !== 'endUser') return principals[token];
      if (user.expiresAt * 1000 <= clock.now()) return undefined;
      const { tenantId: tenant, userId: sub, issuedAt, session } = user;
      return (await tenants.isTokenRevoked({ tenant, sub, issuedAt, session })) ? undefined : user;
    },
  });
  const call = async (method: string, path: string, init: Call = {}): Promise<Answer> => {
    const { as = 'ann', send, ifMatch, key, ...rest } = init;
    const headers = new Headers(rest.headers);
    if (as !== '') headers.set('Authorization', `Bearer ${as}`);
    if (send !== undefined) headers.set('Content-Type', 'application/json');
    if (ifMatch !== undefined) headers.set('If-Match', ifMatch);
    if (key !== undefined) headers.set('Idempotency-Key', key);
    const request = { ...rest, method, headers, ...(send !== undefined && { body: JSON.stringify(send) }) };
    const response = await app.request(path, request, { remoteAddress: '203.0.113.7' });
    const text = await response.text();
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      body: isJson ? JSON.parse(text) : text,
      etag: response.headers.get('etag') ?? '',
      headers: response.headers,
    };
  };
  return {
    tenants,
    mails,
    mailTried,
    unnamed,
    clock,
    target,
    audited,
    lines,
    erasers,
    routes,
    call,
    commit: steps => store.transact(steps),
  };
}

export async function openFixture(
  make: () => Promise<Target> = embedded,
  given: Given = {},
): Promise<Fixture> {
  const target = await make();
  await createTables(target.control, [tenantsTable]);
  return openProcess(target, given);
}

// Every item there is, for tests that ask what is left.
export async function everyItem({ client }: Target): Promise<Record<string, unknown>[]> {
  const { Items = [] } = await client.scan({ TableName: 'tenants' });
  return Items;
}
