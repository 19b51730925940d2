import { is } from '@stak/table';
import { hasMissed } from './catch-up.ts';
import { type Base, inSeconds } from './deps.ts';
import { dueShardOf } from './due.ts';
import { notFound, webhookErrors } from './errors.ts';
import { type Position, walkEvents } from './event-list.ts';
import { type Event, type Job, job, jobsOfUser } from './events-table.ts';
import type { Intake } from './intake.ts';
import * as limits from './limits.ts';
import { unlessLost } from './lost-write.ts';
import type { Connection } from './main-table.ts';
import { cancelEvent, type ReplayDeps, replayEvent } from './replay.ts';

export type NewJob = Pick<
  Job,
  'userId' | 'sourceId' | 'action' | 'connectionIds' | 'eventIds' | 'from' | 'to' | 'status'
>;

export type Jobs = {
  create(input: NewJob): Promise<Job>;
  get(jobId: string, userId: string): Promise<Job>;
  list(userId: string): Promise<Job[]>;
  cancel(jobId: string, userId: string): Promise<Job>;
  run(ref: { userId: string; jobId: string }, owner: string, signal: AbortSignal): Promise<void>;
};

type JobDeps = Base &
  ReplayDeps & { getEvent(eventId: string): Promise<Event | null>; intake: Pick<Intake, 'wake'> };
type Done = { matched: number; deliveries: number };

// Work over many events, in batches with a checkpoint after each: whoever claims a job whose worker died goes on
// after the last one. Doing a batch twice does nothing twice.
export function createJobs(deps: JobDeps): Jobs {
  const { store, clock, ids, config } = deps;

  const get = async (jobId: string, userId: string): Promise<Job> => {
    const found = await store.get(job, { userId, jobId }, { consistent: true });
    if (!found || found.action === 'catch_up') throw notFound('job');
    return found;
  };

  const checkConnections = async ({ sourceId, userId, connectionIds = [] }: NewJob): Promise<void> => {
    if (connectionIds.length === 0) return;
    const known = (await config.fresh(sourceId, userId))?.connections ?? [];
    if (connectionIds.some(id => !known.some(one => one.connectionId === id))) throw notFound('connection');
  };

  const claim = ({ userId, jobId }: { userId: string; jobId: string }, owner: string) => {
    const nowMs = clock.now();
    const set = { owner, dueIn: dueShardOf(jobId), dueAt: nowMs + limits.leaseMs };
    const options = { if: { state: 'running' as const, dueAt: is.atMost(nowMs) }, pattern: 'claim job' };
    return unlessLost(store.update(job, { userId, jobId }, { set, add: { failures: 1 } }, options));
  };

  const checkpoint = ({ userId, jobId, version }: Job, position: Position, done: Done) => {
    const dueAt = clock.now() + limits.leaseMs;
    const set = { position: JSON.stringify(position), dueIn: dueShardOf(jobId), dueAt, failures: 0 };
    const options = { ifVersion: version, pattern: 'checkpoint of a job' };
    return unlessLost(store.update(job, { userId, jobId }, { set, add: done }, options));
  };

  // Without a version it ends the job whoever works on it; that one's next checkpoint fails.
  const finish = ({ userId, jobId }: Job, state: Job['state'], ifVersion?: number) => {
    const change = {
      set: { state, finishedAt: clock.now() },
      remove: ['owner', 'dueIn', 'dueAt'] as const,
    };
    const options = { if: { state: 'running' as const }, ifVersion };
    return unlessLost(store.update(job, { userId, jobId }, change, options));
  };

  const apply = async (at: Job, events: readonly Event[]): Promise<Done> => {
    const known = await config.fresh(at.sourceId, at.userId);
    const chosen = (known?.connections ?? []).filter(
      one => one.status !== 'disabled' && (!at.connectionIds || at.connectionIds.includes(one.connectionId)),
    );
    const counts = await Promise.all(
      events.map(one =>
        at.action === 'cancel'
          ? cancelEvent(deps, one, at.connectionIds)
          : replayEvent(deps, one, wantedBy(at, one, chosen), at.jobId),
      ),
    );
    return { matched: events.length, deliveries: counts.reduce((sum, count) => sum + count, 0) };
  };

  const runBatches = async (claimed: Job, signal: AbortSignal): Promise<void> => {
    let at: Job | undefined = claimed;
    let batch: Event[] = [];
    let position: Position | undefined;
    const flush = async () => {
      if (!position || !at) return;
      const done = await apply(at, batch);
      at = await checkpoint(at, position, done);
      batch = [];
    };
    let looked = 0;
    for await (const one of eventsOf(deps, claimed)) {
      position = { receivedAt: one.receivedAt, eventId: one.eventId };
      looked += 1;
      const isWanted = one.status !== 'rejected' && (!claimed.status || one.status === claimed.status);
      if (isWanted) batch.push(one);
      if (batch.length < limits.jobBatch && looked % (limits.jobBatch * 40) !== 0) continue;
      await flush();
      if (!at || signal.aborted) return; // cancelled, taken over, or to be resumed elsewhere when the lease ends
    }
    await flush();
    if (at) await finish(at, 'done', at.version);
  };

  return {
    get,
    async list(userId) {
      const found: Job[] = [];
      for await (const one of store.all(jobsOfUser, { userId }))
        if (one.action !== 'catch_up' && found.push(one) === limits.jobsListed) break;
      return found;
    },
    async create(input) {
      if (input.action === 'replay') await checkConnections(input);
      const running = (await this.list(input.userId)).filter(one => one.state === 'running');
      if (running.length >= limits.jobsPerUser)
        throw webhookErrors.create('webhooks.too_many_jobs', 'Too many jobs are under way.');
      const nowMs = clock.now();
      const jobId = ids.next('job');
      const made = await store.put(job, {
        ...input,
        jobId,
        // What arrives from now on is not meant; without an end the job might never reach one.
        to: Math.min(input.to ?? nowMs, nowMs),
        state: 'running',
        matched: 0,
        deliveries: 0,
        failures: 0,
        createdAt: nowMs,
        dueIn: dueShardOf(jobId),
        dueAt: nowMs,
        expiresAt: inSeconds(nowMs) + limits.jobS,
      });
      deps.intake.wake();
      return made;
    },
    async cancel(jobId, userId) {
      const found = await get(jobId, userId);
      await finish(found, 'cancelled');
      return get(jobId, userId);
    },
    async run(ref, owner, signal) {
      const claimed = await claim(ref, owner);
      if (!claimed) return;
      if (claimed.failures > limits.jobAttempts) await finish(claimed, 'failed', claimed.version);
      else await runBatches(claimed, signal);
    },
  };
}

const wantedBy = ({ action }: Job, event: Event, connections: readonly Connection[]) =>
  action === 'catch_up' ? connections.filter(one => hasMissed(event, one.connectionId)) : connections;

// Those it names, or those of the time it names, newest first; after the last checkpoint.
async function* eventsOf(deps: JobDeps, at: Job): AsyncGenerator<Event> {
  const after = at.position === undefined ? undefined : (JSON.parse(at.position) as Position);
  if (!at.eventIds) {
    const range = { fromMs: at.from, toMs: at.to === undefined ? undefined : at.to + 1 };
    yield* walkEvents(deps.store, at.sourceId, { ...range, after, pageItems: limits.jobBatch });
    return;
  }
  const ordered = [...at.eventIds].sort().reverse();
  for (const eventId of ordered.filter(one => !after || one < after.eventId)) {
    const found = await deps.getEvent(eventId);
    if (found?.userId === at.userId && found.sourceId === at.sourceId) yield found;
  }
}
