import { createBell, systemRandom, unknownOwners } from '@stak/kit';
import { createCursors } from '@stak/table';
import { createBroadcastList } from './broadcast-list.ts';
import { startCategoryErasure } from './category-erasure.ts';
import { readCounts } from './counts.ts';
import type { InboxDeps, Service } from './deps.ts';
import { createEraser } from './eraser.ts';
import { inboxErrors } from './errors.ts';
import { type FeedFilter, readFeed } from './feed.ts';
import { hostApi } from './host-api.ts';
import { createHub } from './hub.ts';
import { createKept } from './kept.ts';
import * as limits from './limits.ts';
import { join } from './mailbox.ts';
import { type MarkAll, markAll } from './mark-all.ts';
import { type Mark, markMessages } from './marks.ts';
import { openPage } from './pages.ts';
import { checkPlace, type Place, type UserPlace } from './places.ts';
import { type Origin, publish } from './publish.ts';
import { redact, redactHostId } from './redaction.ts';
import { broadcastBody, inboxBody, publishBody, type ShownMessage } from './schema.ts';
import { listInboxes, writeInbox } from './settings.ts';
import { createSharedBodies } from './shared-bodies.ts';
import { createFollowings, createSubscriptions } from './streams.ts';
import { inboxConfig, inboxTable } from './table.ts';
import { createTurns } from './turns.ts';
import { userApi } from './user-api.ts';
import { createWorker, runAll } from './worker.ts';

export type { EnterTenant, InboxDeps } from './deps.ts';
export { inboxErrors } from './errors.ts';
export { inboxOwners } from './owners.ts';
export type { Place, UserPlace } from './places.ts';
export { messageBody } from './send-table.ts';
export { inboxConfig, inboxTable, publicMessage, userMessage } from './table.ts';

export type Inbox = ReturnType<typeof createInbox>;

export function createInbox(deps: InboxDeps) {
  const service = createService(deps);
  return {
    api: [...hostApi(service), ...userApi(service)] as const,
    errors: inboxErrors,
    tables: [inboxTable],
    subscriptions: createSubscriptions(service),
    followings: createFollowings(service),
    workers: [createWorker(service)],
    eraser: createEraser(service),
    operations: createOperations(service),
  };
}

function createService(deps: InboxDeps): Service {
  const { store, clock, ids, log, enterTenant } = deps;
  const { random = systemRandom, cursors = createCursors(), owners = unknownOwners(ids) } = deps;
  return {
    ...{ store, clock, ids, log, owners, random, enterTenant, cursors },
    recipientsTogether: deps.recipientsTogether ?? limits.recipientsTogether,
    broadcasts: createBroadcastList({ store, now: clock.now }),
    sharedBodies: createSharedBodies({ store }),
    turns: createTurns(),
    due: createBell(clock),
    pages: createKept(limits.pagesKept),
    counts: createKept(limits.countsKept),
    hub: createHub(clock),
  };
}

// For other rooms, which are not callers of the API: a webhook that lands in an inbox, a task that is due. Whose
// tenant it is, they have to know.
const createOperations = (service: Service) => ({
  // Makes the inbox unless it is there. Whoever has made one may have given it other words.
  async ensureInbox(place: Place, body: object) {
    checkPlace(place);
    const found = await service.store.get(inboxConfig, place, { consistent: true });
    if (found && !found.erasing) return;
    await writeInbox(service, place, inboxBody.parse(body), { by: 'stak' });
  },
  publish(place: Place, draft: object, origin: Origin) {
    checkPlace(place);
    return publish(service, place, publishBody.parse(draft), origin);
  },
  broadcast(place: Place, draft: object, origin: Origin) {
    checkPlace(place);
    return publish(service, place, broadcastBody.parse(draft), origin);
  },
  redact(place: Place, id: string) {
    checkPlace(place);
    return redact(service, place, id);
  },
  redactHostId(place: Place, hostSystemId: string) {
    checkPlace(place);
    return redactHostId(service, place, hostSystemId);
  },
  deleteCategory(place: Place, category: string) {
    checkPlace(place);
    return startCategoryErasure(service, place, category, 'stak');
  },
  counts(user: UserPlace) {
    checkPlace(user);
    return readCounts(service, user);
  },
  feed(user: UserPlace, filter: FeedFilter, page: { limit: number; before?: string }) {
    checkPlace(user);
    return readFeed(service, user, filter, page);
  },
  join(user: UserPlace) {
    checkPlace(user);
    return join(service, user);
  },
  // The same as the API sends it.
  page(user: UserPlace, filter: FeedFilter, page: { limit: number; before?: string }) {
    checkPlace(user);
    return openPage(service, user, filter, page);
  },
  // All inboxes of a tenant's user, in a few words.
  async summary(tenant_key: string, uid: string, newest: number) {
    const unread: ShownMessage[] = [];
    const sum = { unread: 0, unseen: 0 };
    for await (const { inbox_key, erasing } of listInboxes(service, tenant_key)) {
      if (erasing) continue;
      const user = { tenant_key, inbox_key, uid };
      const counts = await readCounts(service, user);
      sum.unread += counts.unread;
      sum.unseen += counts.unseen;
      if (counts.unread > 0)
        unread.push(
          ...(
            await readFeed(service, user, { read: false, archived: false, snoozed: false }, { limit: newest })
          ).items,
        );
    }
    return { ...sum, newest: unread.sort((a, b) => b.received - a.received).slice(0, newest) };
  },
  mark(user: UserPlace, ids: readonly string[], mark: Mark) {
    checkPlace(user);
    return markMessages(service, user, ids, mark);
  },
  markAll(user: UserPlace, wish: MarkAll) {
    checkPlace(user);
    return markAll(service, user, wish);
  },
  // What the worker does, once: for tests and for runs without one.
  runDue: () => runAll(service),
});
