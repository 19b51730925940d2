import {
  type AccountPrincipal,
  type BoundCursors,
  bindCursors,
  type CursorCodec,
  cursorRefused,
  type EndUserPrincipal,
} from '@stak/http';
import type { Clock, Ids, Logger, Owners, Random } from '@stak/kit';
import { type Cursors, type Store, tableErrors } from '@stak/table';
import type { Writing } from './commit.ts';
import type { Hub } from './hub.ts';
import { userIdOf } from './owner.ts';
import type { DescribeOwner } from './profile.ts';
import type { Remind } from './reminders.ts';
import type { Search } from './search.ts';

export type TasksDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners?: Owners; // which of those that claim reminders are gone; without it leases run out
  random?: Random;
  // With a secret that outlives the process, and is the same for all: clients keep cursors for a while.
  cursors: Cursors;
  // Refuses end users of tenants that are missing or suspended, and accounts whose tenant it is not.
  enterTenant(principal: Caller, tenantId: string): Promise<unknown>;
  // Where a due reminder goes. Takes each key once.
  remind: Remind;
  // Who somebody is, for their profile. Undefined if nobody knows.
  describeOwner?: DescribeOwner;
  // What comes before the path in the address of a calendar, like https://api.example.com.
  publicUrl?: string;
};

// What the operations behind the routes work with.
export type Services = Writing & {
  log: Logger;
  cursors: Cursors;
  enterTenant: TasksDeps['enterTenant'];
  describeOwner?: DescribeOwner;
  hub: Hub;
  search: Search;
  publicUrl: string;
};

export type Caller = AccountPrincipal | EndUserPrincipal;

// Whose tasks a request is about: the caller's own, and nobody else's ever.
export async function enter({ enterTenant }: Services, caller: Caller): Promise<string> {
  if (caller.kind === 'endUser') await enterTenant(caller, caller.tenantId);
  return userIdOf(caller);
}

// Where a list goes on, for this caller and this list only. What comes out was sealed here, so it is what went in.
export const cursorsFor = <Position extends object>(
  c: Parameters<typeof bindCursors>[0],
  { cursors }: Services,
): BoundCursors<Position> => bindCursors(c, cursors as CursorCodec<unknown> as CursorCodec<Position>);

// A cursor is bound to its query, and one with "today" in it is another query tomorrow.
export function refuseCursor(error: unknown): never {
  throw tableErrors.includes(error) && error.code === 'table.cursor_refused' ? cursorRefused(error) : error;
}
