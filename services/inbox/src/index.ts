import { withProblems } from '@stak/http';
import { createHub, createKeyedLock, createNotifier, systemRandom, unknownOwners } from '@stak/kit';
import { createCursors } from '@stak/table';
import type { Deps, InboxDeps } from './deps.ts';
import { inboxErrors } from './errors.ts';
import { checkInboxId, type InboxId, type MailboxId } from './inbox-id.ts';
import { startCategoryErasure } from './inboxes/category-erasure.ts';
import { createEraser } from './inboxes/erasure.ts';
import { createInboxRoutes } from './inboxes/routes.ts';
import * as limits from './limits.ts';
import { createBroadcastList, createHeadRead } from './mailbox/broadcast-list.ts';
import { join, readCounts } from './mailbox/mailbox.ts';
import { createMailboxCache } from './mailbox/mailbox-cache.ts';
import { type MarkAll, markAll } from './mailbox/mark-all.ts';
import { type Mark, markMessages } from './mailbox/mark-messages.ts';
import { createSharedBodies, type FeedFilter, openPage, readFeed } from './mailbox/messages.ts';
import { createMailboxRoutes } from './mailbox/routes.ts';
import { createStateMemory } from './mailbox/state-memory.ts';
import { type Origin, publish } from './publish/publish.ts';
import { createPublishRoutes } from './publish/routes.ts';
import { broadcastBody, inboxBody, publishBody, type ShownMessage } from './schema.ts';
import { redact, redactHostId } from './sends/redaction.ts';
import { createSendRoutes } from './sends/routes.ts';
import { createPolicyReads, listInboxes, writeInbox } from './settings.ts';
import { createFollowers, createSubscriptions } from './subscriptions.ts';
import { inboxConfig, inboxTable } from './tables.ts';
import { createWorker, runAll } from './worker.ts';

export type { InboxDeps } from './deps.ts';
export { inboxErrors } from './errors.ts';
export type { InboxId, MailboxId } from './inbox-id.ts';
export { inboxConfig, inboxOwners, inboxTable } from './tables.ts';

export type Inbox = ReturnType<typeof createInbox>;

export function createInbox(given: InboxDeps) {
  const deps = completeDeps(given);
  return {
    // A read may write too: what has expired is taken out of a mailbox first.
    api: withProblems(
      [
        ...createInboxRoutes(deps),
        ...createPublishRoutes(deps),
        ...createSendRoutes(deps),
        ...createMailboxRoutes(deps),
      ] as const,
      ['inbox.busy'],
    ),
    errors: inboxErrors,
    tables: [inboxTable],
    subscriptions: createSubscriptions(deps),
    followers: createFollowers(deps),
    workers: [createWorker(deps)],
    eraser: createEraser(deps),
    operations: createOperations(deps),
  };
}

function completeDeps(given: InboxDeps): Deps {
  const { store, clock, ids, log } = given;
  const { random = systemRandom, cursors = createCursors(), owners = unknownOwners(ids) } = given;
  return {
    store,
    clock,
    ids,
    log,
    owners,
    random,
    cursors,
    recipientsTogether: given.recipientsTogether ?? limits.recipientsTogether,
    policies: createPolicyReads(store),
    headOf: createHeadRead(store),
    broadcasts: createBroadcastList({ store, now: clock.now }),
    sharedBodies: createSharedBodies({ store }),
    stateMemory: createStateMemory(store),
    lock: createKeyedLock(),
    due: createNotifier(clock),
    pageCache: createMailboxCache(limits.pagesKept),
    countsCache: createMailboxCache(limits.countsKept),
    hub: createHub(clock),
  };
}

// For other services in the same process. They have to know whose tenant it is.
const createOperations = (deps: Deps) => ({
  // Creates the inbox unless it exists. One that exists keeps its settings.
  async ensureInbox(inbox: InboxId, body: object) {
    checkInboxId(inbox);
    const found = await deps.store.get(inboxConfig, inbox, { consistent: true });
    if (found && !found.erasing) return;
    await writeInbox(deps, inbox, inboxBody.parse(body), { by: 'stak' });
  },
  publish(inbox: InboxId, draft: object, origin: Origin) {
    checkInboxId(inbox);
    return publish(deps, inbox, publishBody.parse(draft), origin);
  },
  broadcast(inbox: InboxId, draft: object, origin: Origin) {
    checkInboxId(inbox);
    return publish(deps, inbox, broadcastBody.parse(draft), origin);
  },
  redact(inbox: InboxId, id: string) {
    checkInboxId(inbox);
    return redact(deps, inbox, id);
  },
  redactHostId(inbox: InboxId, hostSystemId: string) {
    checkInboxId(inbox);
    return redactHostId(deps, inbox, hostSystemId);
  },
  deleteCategory(inbox: InboxId, category: string) {
    checkInboxId(inbox);
    return startCategoryErasure(deps, inbox, category, 'stak');
  },
  counts(user: MailboxId) {
    checkInboxId(user);
    return readCounts(deps, user);
  },
  feed(user: MailboxId, filter: FeedFilter, page: { limit: number; before?: string }) {
    checkInboxId(user);
    return readFeed(deps, user, filter, page);
  },
  join(user: MailboxId) {
    checkInboxId(user);
    return join(deps, user);
  },
  // A page as the API sends it.
  page(user: MailboxId, filter: FeedFilter, page: { limit: number; before?: string }) {
    checkInboxId(user);
    return openPage(deps, user, filter, page);
  },
  async list(tenant_key: string) {
    const found: { inbox_key: string; title: string }[] = [];
    for await (const { inbox_key, title, erasing } of listInboxes(deps, tenant_key))
      if (!erasing) found.push({ inbox_key, title });
    return found;
  },
  summary: (tenantId: string, uid: string, newest: number) => summarise(deps, tenantId, uid, newest),
  mark(user: MailboxId, ids: readonly string[], mark: Mark) {
    checkInboxId(user);
    return markMessages(deps, user, ids, mark);
  },
  markAll(user: MailboxId, wish: MarkAll) {
    checkInboxId(user);
    return markAll(deps, user, wish);
  },
  // One round of the worker, for tests and for processes that run none.
  runDue: () => runAll(deps),
});

// Unread and unseen messages in all inboxes of a user, and the newest unread ones.
async function summarise(deps: Deps, tenant_key: string, uid: string, newest: number) {
  const unread: ShownMessage[] = [];
  const sum = { unread: 0, unseen: 0 };
  for await (const { inbox_key, erasing } of listInboxes(deps, tenant_key)) {
    if (erasing) continue;
    const user = { tenant_key, inbox_key, uid };
    const counts = await readCounts(deps, user);
    sum.unread += counts.unread;
    sum.unseen += counts.unseen;
    if (counts.unread === 0) continue;
    const filter = { read: false, archived: false, snoozed: false };
    unread.push(...(await readFeed(deps, user, filter, { limit: newest })).items);
  }
  return { ...sum, newest: unread.sort((a, b) => b.received - a.received).slice(0, newest) };
}
