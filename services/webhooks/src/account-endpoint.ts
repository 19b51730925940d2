import type { ApiEnv, Endpoint, HandlerOf, RouteSpec } from '@stak/http';

type AccountRoute = RouteSpec & { auth: 'account' };
type ContextOf<R extends RouteSpec> = Parameters<HandlerOf<R>>[0];
type WithPrincipal = { get(name: 'principal'): ApiEnv<'account'>['Variables']['principal'] };

// An endpoint for an account. The handler gets the account's id as `userId`, which is its name in the tables.
export const accountEndpoint = <const R extends AccountRoute>(
  route: R,
  handler: (c: ContextOf<R>, userId: string) => ReturnType<HandlerOf<R>>,
): Endpoint<R> => {
  const handle = (c: ContextOf<R>) => handler(c, (c as unknown as WithPrincipal).get('principal').accountId);
  return { route, handler: handle as HandlerOf<R> };
};
