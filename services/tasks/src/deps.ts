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
  tenantOf,
} from '@stak/http';
import type { Clock, Hub, Ids, Logger, MaybePromise, Owners, Random } from '@stak/kit';
import { type Cursors, type Store, tableErrors } from '@stak/table';
import type { CommitDeps } from './edit/commit.ts';
import type { Search } from './lists/search.ts';
import { userIdOf } from './owner.ts';
import type { Remind } from './schedule/reminders.ts';
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
  // Whether the users of a tenant may be served: for calendar feeds, which have no caller.
  isTenantActive(tenantId: string): Promise<boolean>;
  // Whether an account is open, and a person in it, if one is named. Without it, nobody leaves.
  isMember?(accountId: string, userId: string | undefined): Promise<boolean>;
  // The second until which everything that users of a tenant were given has been revoked; -1 if it has not been.
  lastRevokedAt?(tenantId: string): MaybePromise<number>;
  // Delivers a due reminder. Must take each key only once.
  remind: Remind;
  // Looks up the name and address for a profile. Undefined if they are unknown.
  describeOwner?: DescribeOwner;
  // The base URL of calendar addresses, such as https://api.example.com.
  publicUrl?: string;
};

export type Deps = CommitDeps & {
  log: Logger;
  cursors: Cursors;
  isTenantActive: TasksDeps['isTenantActive'];
  isMember: TasksDeps['isMember'];
  lastRevokedAt: TasksDeps['lastRevokedAt'];
  describeOwner?: DescribeOwner;
  hub: Hub; // wakes event streams, by user
  search: Search;
  publicUrl: string;
};

type Caller = AccountPrincipal | EndUserPrincipal;
type ContextOf<R extends RouteSpec> = Parameters<HandlerOf<R>>[0];

// Endpoints about the caller's own tasks, with the account that pays for them.
export const forCaller = <const R extends RouteSpec & { tenant: 'caller' }>(
  route: R,
  handler: (c: ContextOf<R>, user_id: string, account_id: string) => ReturnType<HandlerOf<R>>,
): Endpoint<R> =>
  endpoint<RouteSpec>(route, (async (c: ContextOf<R>) => {
    const caller = c.get('principal') as Caller;
    const accountId = caller.kind === 'account' ? caller.accountId : tenantOf(c).account_id;
    return handler(c, userIdOf(caller), accountId);
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
