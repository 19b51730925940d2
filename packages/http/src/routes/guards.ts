import { type Logger, type MaybePromise, whenKnown } from '@stak/kit';
import type { Context } from 'hono';
import type { ApiEnv } from '../context.ts';
import * as limits from '../limits.ts';
import type { Principal } from '../principal.ts';
import { type AuditLine, callerOf, recordLine } from './audit.ts';
import { isInPath, type Reach, type RouteSpec } from './route.ts';

// Enforces what routes declare about themselves, for all of them in the same way and in the same order. What is behind a
// guard (accounts, tenants, plans) is injected: this package knows of no service.

/** The tenant that a request is about. Services give more of it to handlers. */
export type RequestTenant = { readonly tenant_id: string; readonly account_id: string };

/** The tenant that the route of a request has entered. */
export function tenantOf<T extends RequestTenant = RequestTenant>(c: {
  get(name: 'tenant'): RequestTenant | undefined;
}): T {
  const tenant = c.get('tenant');
  if (!tenant) throw new TypeError('The route enters no tenant');
  return tenant as T;
}

type User = Exclude<Principal, { kind: 'provider' }>;

export type Guards = {
  // Throws unless the tenant exists, is open for what the route does, and belongs to the caller.
  enterTenant(principal: User, tenantId: string, route: RouteSpec): Promise<RequestTenant>;
  // For a key that is limited to other tenants.
  refuseKey(): Error;
  // The account that pays for a tenant and has its audit trail; undefined for a tenant of no account.
  payerOf(tenantId: string): Promise<string | undefined>;
  // Whether this server checks an account before a request may reach this.
  checks(reach: Reach): boolean;
  // Throws unless the account may make this server reach something. `isOwn`: it is the caller's own.
  checkReach(accountId: string, isOwn: boolean): Promise<void>;
  // Each throws if the account has no room. `isOwner`: the caller may be told about the plan.
  storage: {
    admit(accountId: string, bytes: number, isOwner: boolean): Promise<void>;
    admitEdit(accountId: string, bytes: number, isOwner: boolean): Promise<void>;
    admitLine(accountId: string, isOwner: boolean): Promise<void>;
    charge(accountId: string, bytes: number): Promise<void>;
  };
  audit(accountId: string, line: AuditLine): Promise<void>;
  // The codes of the errors that these guards throw for a route, for the document.
  problemsOf(route: RouteSpec): readonly string[];
};

/** Lets everything pass, and enters no tenant. For an API without accounts, such as that of a test. */
export const unguarded: Guards = {
  enterTenant: () => Promise.reject(new Error('This API has no tenants')),
  refuseKey: () => new Error('This API has no tenants'),
  payerOf: async () => undefined,
  checks: () => false,
  checkReach: async () => {},
  storage: {
    admit: async () => {},
    admitEdit: async () => {},
    admitLine: async () => {},
    charge: async () => {},
  },
  audit: async () => {},
  problemsOf: () => [],
};

type ApiContext = Context<ApiEnv>;
type Handle = (c: ApiContext) => Response | Promise<Response>;
type Before = (c: ApiContext) => MaybePromise<void>;

// The handler behind the guards of its route. A repeated request with the same Idempotency-Key passes them once.
export function guardHandler(route: RouteSpec, handle: Handle, guards: Guards, log: Logger): Handle {
  const before = [limitKey, enterTenant, checkReach, admit].flatMap(guard => guard(route, guards) ?? []);
  const isCharged = isStored(route) && route.stores !== 'line' && route.idempotent === true;
  const isAudited = route.audit === true;
  if (before.length === 0 && !isAudited) return handle;
  return async c => {
    for (const guard of before) {
      const passing = guard(c);
      if (passing) await passing;
    }
    const response = await handle(c);
    if (isCharged && c.req.header('idempotency-key') !== undefined) await charge(c, response, guards);
    if (isAudited) await writeLine(c, response, route, guards, log);
    return response;
  };
}

const callerIn = (c: ApiContext): Principal | undefined => c.get('principal');

const payerOf = ({ payerOf }: Guards, principal: Principal): MaybePromise<string | undefined> => {
  if (principal.kind === 'account') return principal.accountId;
  return principal.kind === 'endUser' ? payerOf(principal.tenantId) : undefined;
};

// A key that is limited to some tenants can call routes of these only: neither those of others nor the account's own.
function limitKey({ auth, tenant }: RouteSpec, guards: Guards): Before | undefined {
  if ((auth !== 'account' && auth !== 'user') || tenant === 'any-key') return undefined;
  return c => {
    const principal = callerIn(c);
    if (principal?.kind !== 'account' || !principal.tenants) return;
    const named = c.req.param('tenant_id');
    if (named === undefined || !principal.tenants.includes(named)) throw guards.refuseKey();
  };
}

// Streams outlast their request, and enter again: the tenant may have been closed in the meantime.
function enterTenant(route: RouteSpec, guards: Guards): Before | undefined {
  const { tenant } = route;
  if (tenant !== 'caller' && !isInPath(tenant)) return undefined;
  return c => {
    const principal = callerIn(c) as User;
    const tenantId = isInPath(tenant)
      ? (c.req.valid('param' as never) as { tenant_id: string }).tenant_id
      : principal.kind === 'endUser' && principal.tenantId;
    if (!tenantId) return;
    const enter = () => guards.enterTenant(principal, tenantId, route);
    c.set('enterAgain', enter);
    return enter().then(entered => c.set('tenant', entered));
  };
}

// Nobody has an account yet who signs up or asks for a new password.
const hasAccount = ({ auth, path }: RouteSpec): boolean =>
  auth !== 'public' || /\{(tenant_id|accountId)\}/.test(path);

/** Whether a request of this route needs an account that may reach things. */
export const isReaching = (route: RouteSpec): boolean => route.reaches !== 'nothing' && hasAccount(route);

function checkReach(route: RouteSpec, guards: Guards): Before | undefined {
  if (!isReaching(route) || !guards.checks(route.reaches)) return undefined;
  const fields = route.reachesWith;
  return async c => {
    if (fields && !setsOneOf(c, fields)) return;
    const accountId = await responsibleFor(c, route, guards);
    // The route itself refuses callers without an account, and tenants that do not exist.
    if (accountId === undefined) return;
    await guards.checkReach(accountId, callerIn(c)?.kind === 'account' && namedAccount(c) === undefined);
  };
}

function setsOneOf(c: ApiContext, names: readonly string[]): boolean {
  const body = c.req.valid('json' as never) as Record<string, unknown>;
  return names.some(name => body[name] !== undefined && body[name] !== null);
}

const namedAccount = (c: ApiContext): string | undefined => c.req.param('accountId');

// The account that answers for a request: the one in its path, the caller's, or the owner of the tenant. What a person
// does with their own login depends on their own address, not on that of the organisation they are in.
function responsibleFor(
  c: ApiContext,
  { auth }: RouteSpec,
  guards: Guards,
): MaybePromise<string | undefined> {
  const named = namedAccount(c);
  if (named !== undefined) return named;
  const principal = callerIn(c);
  if (principal?.kind === 'account' && auth === 'person') return principal.userId;
  if (principal && principal.kind !== 'provider') return payerOf(guards, principal);
  const tenantId = principal?.subject ?? c.req.param('tenant_id');
  return tenantId === undefined ? undefined : guards.payerOf(tenantId);
}

/** Whether requests of this route are admitted by the plan of their account. */
export const isStored = ({ stores }: RouteSpec): boolean =>
  typeof stores === 'function' || stores === 'body' || stores === 'edit' || stores === 'line';

function admit(route: RouteSpec, guards: Guards): Before | undefined {
  if (!isStored(route)) return undefined;
  const { stores } = route;
  const { storage } = guards;
  return async c => {
    const principal = callerIn(c)!;
    const isOwner = principal.kind === 'account';
    const accountId = await payerOf(guards, principal);
    if (accountId === undefined) return;
    if (stores === 'line') return storage.admitLine(accountId, isOwner);
    const sent = c.get('body')?.length ?? 0;
    const estimate =
      typeof stores === 'function' ? stores(sent, c.req.valid('json' as never) as never) : undefined;
    if (stores !== 'edit' && estimate !== 0)
      return storage.admit(accountId, (estimate ?? sent) + limits.storedBytesLeast, isOwner);
    if (route.audit !== false) await storage.admitLine(accountId, isOwner);
    return storage.admitEdit(accountId, sent + limits.storedBytesLeast, isOwner);
  };
}

// The response is stored for a day, for a repeated request.
const charge = (c: ApiContext, response: Response, guards: Guards): MaybePromise<void> =>
  whenKnown(payerOf(guards, callerIn(c)!), async accountId => {
    if (accountId === undefined) return;
    await guards.storage.charge(accountId, (await response.clone().arrayBuffer()).byteLength);
  });

// Requests that were refused changed nothing.
async function writeLine(
  c: ApiContext,
  response: Response,
  route: RouteSpec,
  guards: Guards,
  log: Logger,
): Promise<void> {
  const principal = callerIn(c) as User;
  const accountId = await payerOf(guards, principal);
  // A user of a tenant that belongs to no account.
  if (accountId === undefined) return;
  await recordLine({ audit: guards.audit, log }, c, accountId, {
    ...callerOf(principal),
    action: route.operationId!,
    // A created resource has its own URL.
    target: (response.status === 201 && response.headers.get('location')) || c.req.path,
  });
}
