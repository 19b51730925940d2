import { type Endpoint, endpoint, type HandlerOf, type PrincipalOf, type RouteSpec } from '@stak/http';
import type { Deps } from './deps.ts';
import { inboxErrors } from './errors.ts';
import { type InboxId, isUid, type MailboxId } from './inbox-id.ts';

type ContextOf<R extends RouteSpec> = Parameters<HandlerOf<R>>[0];
type Handler<R extends RouteSpec, Scope> = (c: ContextOf<R>, scope: Scope) => ReturnType<HandlerOf<R>>;
type Called = {
  get(name: 'principal'): PrincipalOf<'user'>;
  req: { valid(part: 'param'): { tenant_id: string; inbox_key: string; uid: string } };
};

// Endpoints of one tenant. The caller enters the tenant before a handler looks at anything else.
export function createInTenant(deps: Deps) {
  const { enterTenant } = deps;
  const scoped =
    <Scope>(enter: (c: Called) => Promise<Scope>) =>
    <const R extends RouteSpec>(route: R, handler: Handler<R, Scope>): Endpoint<R> =>
      endpoint<RouteSpec>(route, (async (c: ContextOf<R>) =>
        handler(c, await enter(c as unknown as Called))) as never) as unknown as Endpoint<R>;

  return {
    inTenant: scoped(async c => {
      const { tenant_id } = c.req.valid('param');
      await enterTenant(c.get('principal'), tenant_id);
      return tenant_id;
    }),
    inInbox: scoped(async (c): Promise<InboxId> => {
      const { tenant_id, inbox_key } = c.req.valid('param');
      await enterTenant(c.get('principal'), tenant_id);
      return { tenant_key: tenant_id, inbox_key };
    }),
    inMailbox: scoped(c => enterMailbox(deps, c)),
  };
}

// End users reach their own mailbox only, also as `me`. Accounts name the user.
export async function enterMailbox({ enterTenant }: Deps, c: Called): Promise<MailboxId> {
  const { tenant_id, inbox_key, uid } = c.req.valid('param');
  const caller = c.get('principal');
  await enterTenant(caller, tenant_id);
  const self = caller.kind === 'endUser' ? caller.userId : undefined;
  const meant = uid === 'me' ? self : uid;
  if (meant === undefined || !isUid(meant) || (self !== undefined && meant !== self))
    throw inboxErrors.create('inbox.user_not_found', 'User not found.');
  return { tenant_key: tenant_id, inbox_key, uid: meant };
}
