import { type Endpoint, endpoint, type HandlerOf, type PrincipalOf, type RouteSpec } from '@stak/http';
import type { Clock, Hub, Ids, KeyedLock, Logger, Notifier, Owners, Random } from '@stak/kit';
import { type Attempt, type Cursors, retryConflicts, type Store } from '@stak/table';
import { inboxErrors } from './errors.ts';
import { type InboxId, isUid, type MailboxId } from './inbox-id.ts';
import * as limits from './limits.ts';
import type { BroadcastList, Head } from './mailbox/broadcast-list.ts';
import type { MailboxCache } from './mailbox/mailbox-cache.ts';
import type { Page, SharedBodies } from './mailbox/messages.ts';
import type { StateMemory } from './mailbox/state-memory.ts';
import type { ShownCounts } from './schema.ts';
import type { PolicyReads } from './settings.ts';

export type InboxDeps = {
  store: Store;
  clock: Clock;
  ids: Ids;
  log: Logger;
  owners?: Owners; // detects which lease holders are gone; without it, their leases run out
  random?: Random;
  cursors?: Cursors;
  // The most users that one transaction delivers a message to. The worker delivers to the others.
  recipientsTogether?: number;
};

// Shared by all operations.
export type Deps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly owners: Owners;
  readonly random: Random;
  readonly cursors: Cursors;
  readonly recipientsTogether: number;
  readonly policies: PolicyReads;
  readonly headOf: (inbox: InboxId) => Promise<Head>; // of the broadcasts
  readonly broadcasts: BroadcastList;
  readonly sharedBodies: SharedBodies;
  readonly stateMemory: StateMemory;
  readonly lock: KeyedLock; // by mailbox, or by inbox for messages to everyone
  readonly due: Notifier; // notified when the worker has something to do
  readonly pageCache: MailboxCache<Page>;
  readonly countsCache: MailboxCache<ShownCounts>;
  readonly hub: Hub; // wakes event streams, by mailbox and by inbox
};

export const secondsNow = ({ clock }: Pick<Deps, 'clock'>): number => Math.floor(clock.now() / 1000);

// Reads, decides and writes again until no other write came in between.
export const retry = <T>(
  { clock, random }: Pick<Deps, 'clock' | 'random'>,
  attempt: () => Promise<Attempt<T>>,
): Promise<T> =>
  retryConflicts(
    {
      clock,
      random,
      attempts: limits.changeAttempts,
      atOnce: limits.changesAtOnce,
      firstMs: limits.conflictFirstMs,
      mostMs: limits.conflictMostMs,
      busy: () =>
        inboxErrors.create('inbox.busy', 'Too many concurrent changes. Try again.', { retryAfterS: 1 }),
    },
    attempt,
  );

type ContextOf<R extends RouteSpec> = Parameters<HandlerOf<R>>[0];
type Handler<R extends RouteSpec, Scope> = (c: ContextOf<R>, scope: Scope) => ReturnType<HandlerOf<R>>;
type Called = {
  get(name: 'principal'): PrincipalOf<'user'>;
  req: { valid(part: 'param'): { tenant_id: string; inbox_key: string; uid: string } };
};

// Endpoints of what the path names, in the tenant that the route has entered.
const scoped =
  <Scope>(scopeOf: (c: Called) => Scope) =>
  <const R extends RouteSpec & { tenant: `path${string}` }>(
    route: R,
    handler: Handler<R, Scope>,
  ): Endpoint<R> =>
    endpoint<RouteSpec>(route, (async (c: ContextOf<R>) =>
      handler(c, scopeOf(c as unknown as Called))) as never) as unknown as Endpoint<R>;

export const inTenant = scoped(c => c.req.valid('param').tenant_id);

export const inInbox = scoped((c): InboxId => {
  const { tenant_id, inbox_key } = c.req.valid('param');
  return { tenant_key: tenant_id, inbox_key };
});

// End users reach their own mailbox only, also as `me`. Accounts name the user.
export const inMailbox = scoped((c): MailboxId => {
  const { tenant_id, inbox_key, uid } = c.req.valid('param');
  const caller = c.get('principal');
  const self = caller.kind === 'endUser' ? caller.userId : undefined;
  const meant = uid === 'me' ? self : uid;
  if (meant === undefined || !isUid(meant) || (self !== undefined && meant !== self))
    throw inboxErrors.create('inbox.user_not_found', 'User not found.');
  return { tenant_key: tenant_id, inbox_key, uid: meant };
});
