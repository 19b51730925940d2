import {
  type AccountPrincipal,
  type BoundCursors,
  bindCursors,
  type CursorCodec,
  cursorRefused,
  type Endpoint,
  type EndUserPrincipal,
  endpoint,
  type HandlerOf,
  type RouteSpec,
} from '@stak/http';
import type { Clock, Hub, Ids, Logger, MaybePromise, Owners, Random } from '@stak/kit';
import { type Cursors, type Store, tableErrors } from '@stak/table';
import type { CommitDeps } from './edit/commit.ts';
import type { Search, Searcher } from './lists/search.ts';
import type { Remind } from './schedule/reminders.ts';
import { userIdOf } from './users/owner.ts';
import type { DescribeOwner } from './users/profile.ts';

export type TasksDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners?: Owners; // detects which lease holders are gone; without it, their leases run out
  random?: Random;
  // Their secret is the same in all processes and outlives them, because clients keep cursors for a while.
  cursors: Cursors;
  // Throws unless the tenant exists, is active and, for an account, belongs to it. Without an answer, the tenant has no
  // account.
  enterTenant(principal: Caller, tenantId: string): Promise<{ readonly account_id: string } | undefined>;
  // Whether a person is in an account, which others may use too. Without it, nobody leaves.
  isMember?(accountId: string, userId: string): Promise<boolean>;
  // The second until which everything that users of a tenant were given has been revoked; -1 if it has not been.
  lastRevokedAt?(tenantId: string): MaybePromise<number>;
  // Delivers a due reminder. Must take each key only once.
  remind: Remind;
  // Looks up the name and address for a profile. Undefined if they are unknown.
  describeOwner?: DescribeOwner;
  // The base URL of calendar addresses, such as https://api.example.com.
  publicUrl?: string;
};

// What the operations behind the routes work with.
export type Deps = CommitDeps & {
  log: Logger;
  cursors: Cursors;
  enterTenant: TasksDeps['enterTenant'];
  isMember: TasksDeps['isMember'];
  lastRevokedAt: TasksDeps['lastRevokedAt'];
  describeOwner?: DescribeOwner;
  hub: Hub; // wakes event streams, by user
  search: Search;
  publicUrl: string;
};

export type Caller = AccountPrincipal | EndUserPrincipal;

// The user whose tasks a request is about, always the caller, and the account that pays for it.
export async function enterUser(
  { enterTenant }: Pick<Deps, 'enterTenant'>,
  caller: Caller,
): Promise<Searcher> {
  const userId = userIdOf(caller);
  if (caller.kind === 'account') return { userId, accountId: caller.accountId };
  const tenant = await enterTenant(caller, caller.tenantId);
  return { userId, accountId: tenant?.account_id ?? `tenant:${caller.tenantId}` };
}

type ContextOf<R extends RouteSpec> = Parameters<HandlerOf<R>>[0];

// Endpoints about the caller's own tasks. End users enter their tenant before a handler looks at anything else.
export const createInTenant =
  (deps: Pick<Deps, 'enterTenant'>) =>
  <const R extends RouteSpec>(
    route: R,
    handler: (c: ContextOf<R>, user_id: string, account_id: string) => ReturnType<HandlerOf<R>>,
  ): Endpoint<R> =>
    endpoint<RouteSpec>(route, (async (c: ContextOf<R>) => {
      const { userId, accountId } = await enterUser(deps, c.get('principal') as Caller);
      return handler(c, userId, accountId);
    }) as never) as unknown as Endpoint<R>;

// Cursors for this caller and this list only.
export const cursorsFor = <Position extends object>(
  c: Parameters<typeof bindCursors>[0],
  { cursors }: Pick<Deps, 'cursors'>,
): BoundCursors<Position> => bindCursors(c, cursors as CursorCodec<unknown> as CursorCodec<Position>);

// A cursor is bound to its query, and a query with "today" in it is another one tomorrow.
export function refuseCursor(error: unknown): never {
  throw tableErrors.includes(error) && error.code === 'table.cursor_refused' ? cursorRefused(error) : error;
}
