import type { AnyEndpoint } from '@stak/http';
import { systemRandom, unknownOwners, type Worker } from '@stak/kit';
import { createSandbox } from '@stak/sandbox';
import { createAdmission } from './admission.ts';
import { alertSubscription } from './alerts.ts';
import { analyse } from './analytics.ts';
import { createAttempts } from './attempts.ts';
import { createBreaker } from './breaker.ts';
import { configFollowing, createConfig, findOwner } from './config.ts';
import { createConnectionApi } from './connection-api.ts';
import { createConnections } from './connections.ts';
import { createCounters, dayOf } from './counters.ts';
import { createDeliveryWorker } from './delivery-worker.ts';
import type { WebhookDeps } from './deps.ts';
import { createEmit } from './emission.ts';
import { createEraser } from './eraser.ts';
import { webhookErrors } from './errors.ts';
import { createEventApi } from './event-api.ts';
import { beginCounting, countEvents } from './event-counts.ts';
import { createEvents } from './events.ts';
import { ferryhookEvents } from './events-table.ts';
import { createIngestApi } from './ingest-api.ts';
import { createInsightApi } from './insight-api.ts';
import { createIntake } from './intake.ts';
import { createJobs } from './jobs.ts';
import { createLanes, type Lanes } from './lanes.ts';
import { createRules } from './rules.ts';
import { createSecrets } from './secrets.ts';
import { createSourceApi } from './source-api.ts';
import { createSources } from './sources.ts';
import { createTails } from './tail.ts';
import { createTestEventApi } from './test-event.ts';

export type { AccountPlan, WebhookDeps } from './deps.ts';
export type { Emit, StakEvent } from './emission.ts';
export { webhookErrors } from './errors.ts';
export { delivery, event, ferryhookEvents } from './events-table.ts';
export { webhookOwners } from './owners.ts';

import { connectionPointer } from './main-table.ts';

export { type Alert, alert, type Connection, connection, type Source, source } from './main-table.ts';

// Ferryhook: takes webhooks, keeps them, and delivers them to wherever they are connected.
export function createWebhooks(deps: WebhookDeps) {
  const { store, clock, ids, log, random = systemRandom, outbound } = deps;
  const publicUrl = (deps.publicUrl ?? '').replace(/\/+$/, '');
  const base = { store, clock, ids, log, random };
  const config = createConfig(base);
  const secrets = createSecrets({ sealer: deps.sealer, clock });
  const counters = createCounters(base);
  const admission = createAdmission(deps);
  const sandbox = createSandbox({ clock });
  const tails = createTails(base);
  const breaker = createBreaker({ ...base, config });

  const intake = createIntake(of => lanes.ensureArmed(of));
  const lanes: Lanes = createLanes({ ...base, config, intake });
  const refuseUrl = (url: string) => {
    const refusal = outbound.check(url);
    if (refusal)
      throw webhookErrors.create('webhooks.destination_refused', refusal.message, { reason: refusal.reason });
  };
  const sources = createSources({ ...base, secrets, config, refuseUrl });
  const connections = createConnections({ ...base, secrets, config, refuseUrl });
  const events = createEvents({ ...base, config, intake });
  const attempts = createAttempts({ store, getEvent: events.getById });
  const replay = { ...base, config, intake };
  const jobs = createJobs({ ...replay, getEvent: events.getById });
  const pipeline = { clock, secrets, rules: createRules(sandbox), outbound };

  const acceptance = {
    ...base,
    hasRoom: deps.hasRoom,
    config,
    admission,
    intake,
    onReceived: tails.ring,
  };

  const api = [
    ...createIngestApi({ ...acceptance, secrets, publicUrl }),
    ...createSourceApi({ store, sources, publicUrl }),
    ...createTestEventApi({ ...acceptance, secrets, sources, publicUrl }),
    ...createConnectionApi({ store, ids, sources, connections, pipeline }),
    ...createEventApi({ cursors: deps.cursors, config, sources, events, tails, replay }),
    ...createInsightApi({ store, clock, sources, jobs }),
  ] as const satisfies readonly AnyEndpoint[];
  const workers: Worker[] = [
    createDeliveryWorker({
      owners: deps.owners ?? unknownOwners(ids),
      ...base,
      ...pipeline,
      config,
      counters,
      breaker,
      intake,
      lanes,
      jobs,
    }),
    counters.worker,
  ];
  // The last seven days of an account, in a few numbers.
  const readHealth = async (userId: string) => {
    const own = await sources.listByUser(userId);
    const nowMs = clock.now();
    const { statuses } = await analyse(store, {
      userId,
      from: dayOf(nowMs - 6 * 86_400_000),
      to: dayOf(nowMs),
    });
    const connected = await Promise.all(own.map(({ sourceId }) => connections.listBySource(sourceId)));
    const failing = connected.flat().filter(({ breaker: state }) => state !== 'closed');
    return {
      sources: own.length,
      delivered: statuses.delivered,
      failed: statuses.failed + statuses.partial,
      failing: failing.map(({ name }) => name),
    };
  };
  return {
    api,
    errors: webhookErrors,
    tables: [ferryhookEvents], // and `ferryhook-main`, which accounts has
    subscriptions: [
      alertSubscription({ store, clock, log, outbound, secrets, raiseAlert: deps.raiseAlert }),
      countEvents({ store, clock, usageStep: deps.usageStep }),
    ],
    followings: [tails.following, configFollowing(config, clock)],
    workers,
    sources,
    connections,
    events,
    attempts,
    readHealth,
    // Whose a source or a connection is, deleted ones too as long as they are remembered.
    ownerOfSource: (sourceId: string) => findOwner(store, sourceId),
    ownerOfConnection: async (connectionId: string) =>
      (await store.get(connectionPointer, { connectionId }))?.userId,
    // For other rooms, which have something to tell.
    operations: { emit: createEmit(acceptance) },
    eraser: createEraser({ ...base, config }),
    prepare: () => beginCounting(base),
    async close() {
      await counters.flush(); // of what was delivered while the workers were stopping
      await sandbox.close();
    },
  };
}
