import type { Owners } from '@stak/kit';
import { isUnavailable, retryWhileLeased, type WriteStep, write } from '@stak/table';
import { createWithin } from '../create-within.ts';
import type { BaseDeps } from '../deps.ts';
import { notFound, webhookErrors } from '../errors.ts';
import { readWhere } from '../filters/where.ts';
import type { LoadLimiter } from '../ingest/load-limiter.ts';
import * as limits from '../limits.ts';
import { unlessLost } from '../lost-write.ts';
import type { Connection } from '../main-table.ts';
import { makeOnce, type Once } from '../once.ts';
import type { SourceCache } from '../sources/source-cache.ts';
import { type Event, inSeconds, type Job, job, jobsOfUser } from '../tables.ts';
import { type EventCursor, type EventFilter, passes, readsBodies, walkEvents } from './list.ts';
import { cancelEvent, type ReplayDeps, replayEvent } from './replay.ts';

type NewJob = Pick<
  Job,
  | 'userId'
  | 'sourceId'
  | 'action'
  | 'connectionIds'
  | 'eventIds'
  | 'from'
  | 'to'
  | 'status'
  | 'filter'
  | 'expected'
  | 'cause'
>;

export type Jobs = {
  create(input: NewJob, once: Once): Promise<Job>;
  get(jobId: string, userId: string): Promise<Job>;
  list(userId: string): Promise<Job[]>;
  cancel(jobId: string, userId: string): Promise<Job>;
};

export function createJobs(deps: BaseDeps & { sourceCache: SourceCache; wake(): void }): Jobs {
  const { store, clock, sourceCache, dueShards } = deps;

  const get = async (jobId: string, userId: string): Promise<Job> => {
    const found = await store.get(job, { userId, jobId }, { consistent: true });
    if (!found || found.action === 'catch_up') throw notFound('job');
    return found;
  };

  const list = async (userId: string): Promise<Job[]> => {
    const found: Job[] = [];
    for await (const one of store.all(jobsOfUser, { userId }))
      if (one.action !== 'catch_up' && found.push(one) === limits.jobsListed) break;
    return found;
  };

  const checkConnections = async ({ sourceId, userId, connectionIds = [] }: NewJob): Promise<void> => {
    if (connectionIds.length === 0) return;
    const known = (await sourceCache.getFresh(sourceId, userId))?.connections ?? [];
    if (connectionIds.some(id => !known.some(one => one.connectionId === id))) throw notFound('connection');
  };

  return {
    get,
    list,
    async create(input, { ids, isRepeated }) {
      const { userId } = input;
      const checkCount = async () => {
        if (input.action === 'replay') await checkConnections(input);
        const running = (await list(userId)).filter(one => one.state === 'running');
        if (running.length >= limits.jobsPerUser)
          throw webhookErrors.create('webhooks.too_many_jobs', 'Too many jobs are running.');
      };
      const nowMs = clock.now();
      const jobId = ids.next('job');
      const item = {
        ...input,
        jobId,
        // Without an end, new events could keep the job from ever finishing.
        to: Math.min(input.to ?? nowMs, nowMs),
        state: 'running' as const,
        matched: 0,
        deliveries: 0,
        failures: 0,
        createdAt: nowMs,
        dueIn: dueShards.of(jobId),
        dueAt: nowMs,
        expiresAt: inSeconds(nowMs) + limits.jobS,
        version: 1,
      };
      const steps = () => ({ job: write.put(job, item, { ifNew: true }) });
      const find = () => store.get(job, { userId, jobId }, { consistent: true });
      const make = async (): Promise<Job> => {
        await createWithin(deps, `jobs of ${userId}`, checkCount, steps, { pattern: 'create job' });
        return item;
      };
      const made = await makeOnce({ isRepeated }, find, make);
      deps.wake();
      return made;
    },
    async cancel(jobId, userId) {
      const found = await get(jobId, userId);
      await finishJob(deps, found, 'cancelled');
      return get(jobId, userId);
    },
  };
}

type JobRef = { userId: string; jobId: string };
export type JobDeps = ReplayDeps & {
  owners: Owners;
  loadLimiter: Pick<LoadLimiter, 'yieldToRequests'>;
  getEvent(eventId: string): Promise<Event | null>;
};

// Processes the events of a job in batches, with a checkpoint after each: when its worker dies, another one resumes after
// the last checkpoint. Processing a batch twice has no further effect. After a few seconds the job makes way for others
// that are due. A job that fails again and again ends; but it waits, however long, for a store that is unavailable.
export async function runJob(deps: JobDeps, ref: JobRef, owner: string, signal: AbortSignal): Promise<void> {
  const { clock, log } = deps;
  try {
    const claimed = await claimJob(deps, ref, owner);
    if (!claimed) return;
    if (claimed.failures < limits.jobAttempts) return await runBatches(deps, claimed, signal);
    const { jobId: job_id, sourceId: source_id, action } = claimed;
    log.error({ job_id, source_id, action }, 'a job failed too often, and is not continued');
    await finishJob(deps, claimed, 'failed', claimed.version);
  } catch (error) {
    if (!isUnavailable(error)) {
      await giveBackJob(deps, ref, owner, { add: { failures: 1 } });
      throw error;
    }
    log.warn({ err: error, job_id: ref.jobId }, 'a job waits for the store');
    const untilMs = clock.now() + limits.leaseMs;
    await retryWhileLeased(
      () => {
        const due = { dueIn: deps.dueShards.of(ref.jobId), dueAt: clock.now() + limits.jobPauseMs };
        return giveBackJob(deps, ref, owner, { set: due });
      },
      { clock, untilMs: () => untilMs, signal },
    );
  }
}

async function runBatches(deps: JobDeps, claimed: Job, signal: AbortSignal): Promise<void> {
  let current: Job | undefined = claimed;
  let batch: Event[] = [];
  let cursor: EventCursor | undefined;
  const filter = filterOf(claimed);
  const mostRead = limits.jobBatch * (readsBodies(filter) ? 4 : 40); // between two checkpoints
  const untilMs = deps.clock.now() + limits.jobSliceMs;
  const isOver = () => signal.aborted || deps.clock.now() >= untilMs;
  const flush = async (mayRelease: boolean) => {
    if (!cursor || !current) return;
    await deps.loadLimiter.yieldToRequests();
    const done = await processBatch(deps, current, batch);
    const isReleased = mayRelease && isOver();
    const written = await writeCheckpoint(deps, current, cursor, done, isReleased);
    current = isReleased ? undefined : written;
    batch = [];
  };
  let read = 0;
  for await (const one of eventsOf(deps, claimed)) {
    cursor = { receivedAt: one.receivedAt, eventId: one.eventId };
    read += 1;
    if (one.status !== 'rejected' && (await passes(deps.store, one, filter))) batch.push(one);
    if (batch.length < limits.jobBatch && read % mostRead !== 0 && !isOver()) continue;
    await flush(true);
    if (!current) return; // cancelled, taken over, or due again
  }
  await flush(false);
  if (current) await finishJob(deps, current, 'done', current.version);
}

const filterOf = ({ status, filter: { q, where, ...rest } = {} }: Job): EventFilter => ({
  ...rest,
  status,
  text: q,
  where: where === undefined ? undefined : readWhere(where),
});

type BatchCounts = { matched: number; deliveries: number };

async function processBatch(deps: JobDeps, current: Job, events: readonly Event[]): Promise<BatchCounts> {
  const { sourceId, userId, jobId, action, connectionIds } = current;
  const known = await deps.sourceCache.getFresh(sourceId, userId);
  const chosen = (known?.connections ?? []).filter(
    connection =>
      connection.status !== 'disabled' && (!connectionIds || connectionIds.includes(connection.connectionId)),
  );
  const counts = await Promise.all(
    events.map(event => {
      if (action === 'cancel') return cancelEvent(deps, event, connectionIds);
      return replayEvent(
        deps,
        event,
        chosen,
        { jobId, cause: jobId },
        action === 'catch_up' ? hasMissed(current) : undefined,
      );
    }),
  );
  return { matched: events.length, deliveries: counts.reduce((sum, count) => sum + count, 0) };
}

// The events it names, or those in its time range, newest first; after the last checkpoint.
async function* eventsOf(deps: JobDeps, current: Job): AsyncGenerator<Event> {
  const after = current.position === undefined ? undefined : (JSON.parse(current.position) as EventCursor);
  if (!current.eventIds) {
    const range = { fromMs: current.from, toMs: current.to === undefined ? undefined : current.to + 1 };
    yield* walkEvents(deps.store, current.sourceId, { ...range, after, pageItems: limits.jobBatch });
    return;
  }
  const ordered = [...current.eventIds].sort().reverse();
  for (const eventId of ordered.filter(one => !after || one < after.eventId)) {
    const found = await deps.getEvent(eventId);
    if (found?.userId === current.userId && found.sourceId === current.sourceId) yield found;
  }
}

async function claimJob(
  { store, clock, dueShards, owners }: JobDeps,
  { userId, jobId }: JobRef,
  owner: string,
): Promise<Job | undefined> {
  const found = await store.get(job, { userId, jobId }, { consistent: true });
  const nowMs = clock.now();
  if (found?.state !== 'running' || found.dueAt === undefined || found.dueAt > nowMs) return undefined;
  // A process that cannot continue a job gives it back. One that lives and did not was too slow, or could not write.
  const isLeft = found.owner !== undefined && found.owner !== owner;
  const hasDied = isLeft && (!owners.canDetect || (await owners.isGone(found.owner!)));
  const failures = found.failures + (hasDied ? 1 : 0);
  const set = { owner, failures, dueIn: dueShards.of(jobId), dueAt: nowMs + limits.leaseMs };
  const options = { ifVersion: found.version, pattern: 'claim job' };
  return unlessLost(store.update(job, { userId, jobId }, { set }, options));
}

// Ends the lease. Without another time, the job is due when the lease would have ended.
const giveBackJob = (
  { store }: BaseDeps,
  { userId, jobId }: JobRef,
  owner: string,
  change: { set: { dueIn: string; dueAt: number } } | { add: { failures: number } },
) =>
  unlessLost(
    store.update(
      job,
      { userId, jobId },
      { ...change, remove: ['owner'] },
      { if: { owner }, pattern: 'give back job' },
    ),
  );

function writeCheckpoint(
  { store, clock, dueShards }: BaseDeps,
  current: Job,
  cursor: EventCursor,
  done: BatchCounts,
  isReleased: boolean,
) {
  const { userId, jobId, version } = current;
  const dueAt = clock.now() + (isReleased ? 0 : limits.leaseMs);
  const set = { position: JSON.stringify(cursor), dueIn: dueShards.of(jobId), dueAt, failures: 0 };
  const remove = isReleased ? (['owner'] as const) : [];
  const options = { ifVersion: version, pattern: 'checkpoint of a job' };
  return unlessLost(store.update(job, { userId, jobId }, { set, add: done, remove }, options));
}

// Without a version it ends the job even while a worker runs it: the worker's next checkpoint fails.
function finishJob(
  { store, clock }: Pick<BaseDeps, 'store' | 'clock'>,
  { userId, jobId, action }: Job,
  state: Job['state'],
  ifVersion?: number,
) {
  const finishedAt = clock.now();
  const expiry = action === 'catch_up' && { expiresAt: inSeconds(finishedAt) + limits.catchUpS };
  const change = {
    set: { state, finishedAt, ...expiry },
    remove: ['owner', 'dueIn', 'dueAt'] as const,
  };
  const options = { if: { state: 'running' as const }, ifVersion };
  return unlessLost(store.update(job, { userId, jobId }, change, options));
}

// The queue contains only a job's id.
const catchUpPrefix = 'catchup';
export const isCatchUp = ({ jobId }: { jobId: string }): boolean => jobId.startsWith(`${catchUpPrefix}_`);

// For a while, other processes do not have a new connection, or new rules of an existing one: events that they store
// meanwhile have no delivery for it, or were filtered by the old rules. So the write that changes a connection also writes
// jobs that look at those events a little later, and once more when all of them are written. An old view may delay a
// delivery, but never lose one.
export function catchUpSteps(
  { ids, clock, dueShards }: Pick<BaseDeps, 'ids' | 'clock' | 'dueShards'>,
  { userId, sourceId, connectionId }: Pick<Connection, 'userId' | 'sourceId' | 'connectionId'>,
  rulesVersion: number,
): Record<string, WriteStep> {
  const nowMs = clock.now();
  const lastMs = nowMs + limits.viewMs + limits.storeMs; // no event that is received later is stored on an older view
  const steps = [...limits.catchUpMs, limits.settledMs].map((delayMs, i) => {
    const jobId = ids.next(catchUpPrefix);
    const made = {
      userId,
      sourceId,
      jobId,
      action: 'catch_up' as const,
      connectionIds: [connectionId],
      // By then the rules may have been changed again. What was rightly filtered meanwhile stays so.
      ...(delayMs === limits.settledMs && { rulesVersion }),
      from: nowMs - limits.clockSkewMs,
      to: Math.min(nowMs + delayMs, lastMs + limits.clockSkewMs),
      state: 'running' as const,
      matched: 0,
      deliveries: 0,
      failures: 0,
      createdAt: nowMs,
      dueIn: dueShards.of(jobId),
      dueAt: nowMs + delayMs,
      expiresAt: inSeconds(nowMs) + limits.jobS, // so that it cannot run for ever
      version: 1,
    };
    return [`catch up ${i}`, write.put(job, made)] as const;
  });
  return Object.fromEntries(steps);
}

// Whether the process that stored the event may not have had the connection as it was changed.
const hasMissed =
  ({ rulesVersion = Infinity }: Job) =>
  ({ deliveries, rejection }: Event, connectionId: string): boolean => {
    const known = deliveries[connectionId];
    const isFiltered = known?.state === 'filtered' && (known.rulesVersion ?? 0) < rulesVersion;
    return rejection === undefined && (known === undefined || isFiltered);
  };
