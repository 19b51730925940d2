import type { AccountPrincipal, CursorCodec, EndUserPrincipal } from '@stak/http';
import type { Clock, Ids, Logger, Random } from '@stak/kit';
import type { Store } from '@stak/table';
import type { Writing } from './commit.ts';
import type { Hub } from './hub.ts';
import type { ListPosition } from './list.ts';
import { userIdOf } from './owner.ts';
import type { Remind } from './reminders.ts';
import type { Search } from './search.ts';

export type TasksDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  random?: Random;
  // Of @stak/table, with a secret that outlives the process: clients keep cursors for a while.
  cursors: CursorCodec<Record<string, unknown>>;
  // Refuses end users of tenants that are missing or suspended.
  enterTenant(principal: EndUserPrincipal, tenantId: string): Promise<unknown>;
  // Where a due reminder goes. Takes each key once.
  remind: Remind;
  // What comes before the path in the address of a calendar, like https://api.example.com.
  publicUrl?: string;
};

// What the operations behind the routes work with.
export type Services = Writing & {
  log: Logger;
  cursors: CursorCodec<Record<string, unknown>>;
  enterTenant: TasksDeps['enterTenant'];
  hub: Hub;
  search: Search;
  publicUrl: string;
};

export type Caller = AccountPrincipal | EndUserPrincipal;
export type { ListPosition };

// Whose tasks a request is about: the caller's own, and nobody else's ever.
export async function enter({ enterTenant }: Services, caller: Caller): Promise<string> {
  if (caller.kind === 'endUser') await enterTenant(caller, caller.tenantId);
  return userIdOf(caller);
}
