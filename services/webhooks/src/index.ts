import type { AnyEndpoint } from '@stak/http';
import { createSemaphore, systemRandom, unknownOwners, type Worker } from '@stak/kit';
import { createSandbox } from '@stak/sandbox';
import { readHealth } from './analytics/analytics.ts';
import { createAttemptCounts } from './analytics/attempt-counts.ts';
import { beginCounting, countEvents } from './analytics/event-counts.ts';
import { createAnalyticsRoutes } from './analytics/routes.ts';
import { createConnections } from './connections/connections.ts';
import { createConnectionRoutes } from './connections/routes.ts';
import { alertSubscription } from './delivery/alerts.ts';
import { createAnswerWatch } from './delivery/answer-watch.ts';
import { attemptDelivery } from './delivery/attempt.ts';
import { createBacklogs } from './delivery/backlog.ts';
import { createBreaker } from './delivery/breaker.ts';
import { createDispatcher } from './delivery/dispatcher.ts';
import { createQueueShards } from './delivery/due-shards.ts';
import { postponeDelivery } from './delivery/queue.ts';
import { createRateLimiter } from './delivery/rate-limiter.ts';
import { attemptLeased, claimAndAttempt } from './delivery/worker.ts';
import type { WebhookDeps } from './deps.ts';
import { createEraser, eraseEvent } from './erasure.ts';
import { webhookErrors } from './errors.ts';
import { createAttempts, createEvents } from './events/events.ts';
import { createJobs } from './events/jobs.ts';
import { replayOnce } from './events/replay.ts';
import { createEventRoutes } from './events/routes.ts';
import { createTail } from './events/tail.ts';
import { createEmit } from './ingest/emit.ts';
import { createPlanLimiter } from './ingest/ingest.ts';
import { createLoadLimiter } from './ingest/load-limiter.ts';
import { createIngestRoutes } from './ingest/routes.ts';
import { createTestEventRoutes } from './ingest/test-event.ts';
import * as limits from './limits.ts';
import { connectionPointer } from './main-table.ts';
import { createScheduler } from './scheduler.ts';
import { createSecrets } from './signatures/secrets.ts';
import { findOwnerOfSource } from './source-owner.ts';
import { createSourceRoutes } from './sources/routes.ts';
import { createSourceCache, sourceCacheInvalidation } from './sources/source-cache.ts';
import { createSources } from './sources/sources.ts';
import { ferryhookEvents } from './tables.ts';
import { createRules } from './transforms/rules.ts';
import { createWhatIfRoutes } from './what-if/routes.ts';
import { createWhy } from './why.ts';

export { oddSettingOf } from './connections/stored-settings.ts';
export { countCheckpoint } from './count-tables.ts';
export type { AccountPlan, EventShare, WebhookDeps } from './deps.ts';
export { webhookErrors } from './errors.ts';
export type { Emit, StakEvent } from './ingest/emit.ts';
export { catchUpMs } from './limits.ts';
export { type Alert, ferryhookMain } from './main-table.ts';
export { webhookOwners } from './owners.ts';
export { ferryhookEvents } from './tables.ts';

// Ferryhook: receives webhooks, stores them, and delivers them to their connections.
export function createWebhooks(deps: WebhookDeps) {
  const { store, clock, ids, log, random = systemRandom, outbound } = deps;
  const publicUrl = (deps.publicUrl ?? '').replace(/\/+$/, '');
  const dueShards = createQueueShards(deps);
  const base = { store, clock, ids, log, random, dueShards };
  const secrets = createSecrets({ sealer: deps.sealer, clock });
  const sandbox = createSandbox({ clock });

  // Sources and connections
  const sourceCache = createSourceCache({
    ...base,
    secrets,
    hasLateIndexes: deps.changePosition === undefined,
  });
  const refuseUrl = (url: string) => {
    const refusal = outbound.check(url);
    if (refusal)
      throw webhookErrors.create('webhooks.destination_refused', refusal.message, { reason: refusal.reason });
  };
  const sources = createSources({ ...base, secrets, sourceCache, refuseUrl });
  const connections = createConnections({ ...base, secrets, sourceCache, refuseUrl });

  // Delivery: the dispatcher chooses, an attempt sends, the scheduler reads the queue of all processes.
  const attemptCounts = createAttemptCounts(base);
  const breaker = createBreaker({ ...base, sourceCache });
  const backlogs = createBacklogs(base);
  const sending = { clock, secrets, rules: createRules(sandbox), outbound };
  const storeKind = deps.changePosition ? 'embedded' : 'remote';
  const storedAtOnce = limits.storedAtOnce[storeKind];
  const recording = createSemaphore(storedAtOnce);
  const rateLimiter = createRateLimiter(base);
  const answerWatch = deps.answerWatch ?? createAnswerWatch();
  const owners = deps.owners ?? unknownOwners(ids);
  const results = { attemptCounts, breaker, recording, answerWatch, owners };
  const attempting = { ...base, ...sending, ...results, sourceCache, rateLimiter, backlogs };
  const dispatcher = createDispatcher({
    clock,
    log,
    attempt: attemptDelivery.bind(undefined, attempting),
    attemptLeased: attemptLeased.bind(undefined, attempting),
    claimAndAttempt: claimAndAttempt.bind(undefined, attempting),
    release: delivery => postponeDelivery(base, delivery, clock.now()),
    claimsAtOnce: storedAtOnce,
    answerWatch,
    onFewerOwed: () => loadLimiter.grant(),
  });

  // Ingest: no faster than this process delivers
  const { owed, recount } = dispatcher;
  const loadLimiter = createLoadLimiter({
    clock,
    owed,
    recount,
    limits: deps.owedLimits ?? limits.owed[storeKind],
  });
  const tail = createTail(base);
  const accepting = {
    ...base,
    sourceCache,
    planLimiter: createPlanLimiter(deps),
    loadLimiter,
    hasRoom: deps.hasRoom,
    dispatcher,
    backlogs,
    onReceived: tail.notify,
    eraseEvent: (event: Parameters<typeof eraseEvent>[1]) => eraseEvent(store, event),
  };

  // Events, replays and jobs
  const events = createEvents({ ...base, sourceCache, dispatcher, backlogs });
  const attempts = createAttempts({ store, getEvent: events.getById });
  const replay = { ...base, sourceCache, dispatcher };
  const scheduler = createScheduler({
    ...replay,
    owners,
    loadLimiter,
    dispatcher,
    backlogs,
    getEvent: events.getById,
    changePosition: deps.changePosition,
  });
  const jobs = createJobs({ ...base, sourceCache, wake: scheduler.wake });

  const api = [
    ...createIngestRoutes({ ...accepting, secrets, publicUrl }),
    ...createSourceRoutes({ store, sources, publicUrl }),
    ...createTestEventRoutes({ ...accepting, secrets, sources, publicUrl }),
    ...createConnectionRoutes({ store, ids, sources, connections, events, sending }),
    ...createEventRoutes({ cursors: deps.cursors, sourceCache, sources, events, tail, jobs, replay }),
    ...createWhatIfRoutes({
      store,
      clock,
      rules: sending.rules,
      sources,
      connections,
      cursors: deps.cursors,
    }),
    ...createAnalyticsRoutes({ store, clock, sources }),
  ] as const satisfies readonly AnyEndpoint[];
  const workers: Worker[] = [scheduler.worker, attemptCounts.worker];

  return {
    api,
    errors: webhookErrors,
    tables: [ferryhookEvents], // `ferryhook-main` belongs to accounts
    subscriptions: [
      alertSubscription({ store, clock, log, outbound, secrets, raiseAlert: deps.raiseAlert }),
      countEvents({ store, clock, usageStep: deps.usageStep }),
    ],
    followers: [tail.follower, sourceCacheInvalidation(sourceCache, clock)],
    workers,
    owed, // deliveries that wait for nothing but this process
    sources,
    connections,
    events,
    attempts,
    why: createWhy({ store, events, sourceCache }),
    readHealth: (userId: string) => readHealth({ store, clock, sources, connections }, userId),
    // Deleted sources and connections have an owner as long as they are stored.
    ownerOfSource: (sourceId: string) => findOwnerOfSource(store, sourceId),
    ownerOfConnection: async (connectionId: string) =>
      (await store.get(connectionPointer, { connectionId }))?.userId,
    operations: {
      emit: createEmit(accepting), // for events of other services
      detail: async (userId: string, eventId: string) => events.detail(await events.owned(eventId, userId)),
      // To every connection of the source, once for each key.
      async replay(userId: string, eventId: string, key: string, cause: string) {
        const found = await events.owned(eventId, userId);
        const choose = async () => (await sourceCache.getFresh(found.sourceId))?.connections ?? [];
        return replayOnce(replay, found, choose, { replayId: key, isRepeated: true, cause });
      },
    },
    eraser: createEraser({ ...base, sourceCache }),
    prepare: async () => void (await Promise.all([beginCounting(base), dueShards.refresh()])),
    async close() {
      await attemptCounts.flush(); // for deliveries that ended while the workers were stopping
      await sandbox.close();
    },
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;
