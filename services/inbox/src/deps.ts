import type { Principal } from '@stak/http';
import type { Bell, Clock, Ids, Logger, Owners, Random } from '@stak/kit';
import type { Cursors, Store } from '@stak/table';
import type { BroadcastList } from './broadcast-list.ts';
import type { Hub } from './hub.ts';
import type { Kept } from './kept.ts';
import type { Page } from './pages.ts';
import type { ShownCounts } from './schema.ts';
import type { SharedBodies } from './shared-bodies.ts';
import type { Turns } from './turns.ts';

// Throws for a tenant that is missing, somebody else's or suspended.
export type EnterTenant = (principal: Principal, tenantId: string) => Promise<{ tenant_id: string }>;

export type InboxDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners?: Owners; // which of those that hold leases are gone; without it leases run out
  random?: Random;
  enterTenant: EnterTenant;
  cursors?: Cursors;
  // To how many users at most a message is delivered in one transaction. More are left to the worker.
  recipientsTogether?: number;
};

// What every operation works with.
export type Service = {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly owners: Owners;
  readonly random: Random;
  readonly enterTenant: EnterTenant;
  readonly cursors: Cursors;
  readonly recipientsTogether: number;
  readonly broadcasts: BroadcastList;
  readonly sharedBodies: SharedBodies;
  readonly turns: Turns;
  readonly due: Bell; // rung when there is something for the worker
  readonly pages: Kept<Page>;
  readonly counts: Kept<ShownCounts>;
  readonly hub: Hub; // who listens to whose inbox
};

export const secondsNow = ({ clock }: Pick<Service, 'clock'>): number => Math.floor(clock.now() / 1000);
