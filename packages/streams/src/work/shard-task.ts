import { type Clock, type Logger, mapInBatches, markWork, type Owners, type Random } from '@stak/kit';
import { LeaseLostError, PermanentError } from '../errors.ts';
import * as limits from '../limits.ts';
import { readChange, secondsOf } from '../source/change.ts';
import { bytesOf, type Mishap, type Page, type Start } from '../source/shard-reader.ts';
import { type OpenShard, openShard } from '../source/shared-reads.ts';
import type { StreamRecord, StreamSource } from '../source/source.ts';
import type { Counters } from './counters.ts';
import type { DeadLetters } from './dead-letters.ts';
import { createTries, handlePage, type PageJob } from './handle-page.ts';
import { concerns, type HandlerContext, handleOne, type Subscription } from './subscription.ts';
import type { Lease, WorkStore } from './work-store.ts';

/** Something an operator should know about a consumer. */
export type Alarm = {
  // 'trimmed': records were removed before they were read. 'gone': a shard was removed before its end was reached.
  // 'set_aside': a record could not be handled and became a dead letter.
  kind: 'trimmed' | 'gone' | 'set_aside';
  consumer: string;
  shardId: string;
  after: string | undefined;
};

export type TaskDeps = {
  subscription: Subscription;
  source: StreamSource;
  works: WorkStore;
  letters: DeadLetters;
  owners: Owners;
  clock: Clock;
  random: Random;
  log: Logger;
  counters: Counters;
  onAlarm(alarm: Alarm): void;
  // The longest time between two checkpoints of a shard.
  checkpointMs: number;
};

type ShardLease = Lease & { streamArn: string; shardId: string };

// Reads a shard while the lease holds and the signal allows it: read, handle, checkpoint. Resolves to true when the end
// of the shard is checkpointed, and to false if it had to stop before.
export async function consumeShard(
  deps: TaskDeps,
  lease: ShardLease,
  start: Start,
  signal: AbortSignal,
): Promise<boolean> {
  const { source, works, subscription, clock } = deps;
  let recovery: Promise<unknown> | undefined;
  const onMishap = (mishap: Mishap, after: string | undefined) => {
    if (!noteMishap(deps, lease, mishap, after)) return;
    recovery = recover(deps, lease, after);
    recovery.catch(() => {}); // thrown below
  };
  const shard = openShard(source, { shard: lease, start, onMishap, clock });
  const progress = createProgress(deps, lease);
  const canContinue = () => !signal.aborted && holds(deps, lease);

  try {
    while (canContinue()) {
      const since = source.position?.();
      const page = await readBatch(shard, subscription.batchRecords ?? limits.batchRecords);
      // Before any position after the gap is stored: a crash would hide it.
      if (recovery) await recovery;
      recovery = undefined;
      const done = await handleAll(deps, lease, page, canContinue, signal);
      if (done < page.records.length) {
        const last = page.records[done - 1];
        if (last) progress.note(sequenceOf(last), timeOf(last), done);
        break;
      }
      if (page.ended) {
        const reached = progress.forget();
        await works.finish(lease, page.last ?? reached);
        return true;
      }
      const last = page.records.at(-1);
      if (page.last !== undefined) progress.note(page.last, last && timeOf(last), done);
      await progress.keepIfDue();
      await shard
        .pause(page, since, signal, progress.dueInMs())
        .then(() => gather(deps, page, signal))
        .catch(error => {
          if (!signal.aborted) throw error;
        });
    }
  } finally {
    shard.close();
    if (holds(deps, lease)) await progress.keep();
  }
  if (!signal.aborted) throw new LeaseLostError(`the lease of ${lease.shardId} ran out`);
  return false;
}

// A read returns at most a thousand records, or a megabyte. A larger batch takes several.
async function readBatch(shard: OpenShard, mostRecords: number): Promise<Page> {
  const first = await shard.read(Math.min(mostRecords, limits.readRecordsMost));
  if (mostRecords <= limits.readRecordsMost) return first;
  const records = [...first.records];
  let { last, isFull, ended } = first;
  let bytes = bytesOf(records);
  while (isFull && !ended && records.length < mostRecords && bytes < limits.batchBytes) {
    const next = await shard.read(Math.min(mostRecords - records.length, limits.readRecordsMost));
    for (const record of next.records) records.push(record);
    bytes += bytesOf(next.records);
    last = next.last ?? last;
    ({ isFull, ended } = next);
  }
  return { records, last, isFull, ended };
}

// A polled source has gathered changes during its pause.
async function gather({ subscription, source, clock }: TaskDeps, page: Page, signal: AbortSignal) {
  const { gatherMs = 0 } = subscription;
  const mayFollow = source.waitForChange !== undefined || page.last !== undefined;
  if (gatherMs > 0 && mayFollow && !page.isFull) await clock.sleep(gatherMs, signal);
}

// How far a shard has been handled. Checkpoints are written after a number of records or a time, not after each page: a
// quiet table has one change per page, and each would cost a write. A crash repeats what was not checkpointed.
function createProgress({ works, clock, checkpointMs, subscription }: TaskDeps, lease: Lease) {
  const mostRecords = subscription.batchRecords ?? limits.batchRecords;
  let reached: { sequence: string; changedAt: number | undefined } | undefined;
  let records = 0;
  let keptMs = clock.now();

  async function keep(): Promise<void> {
    if (!reached) return;
    const { sequence, changedAt } = reached;
    await works.checkpoint(lease, sequence, changedAt);
    reached = undefined;
    records = 0;
    keptMs = clock.now();
  }
  const dueInMs = (): number | undefined =>
    reached && Math.max(0, records >= mostRecords ? 0 : keptMs + checkpointMs - clock.now());

  return {
    note(sequence: string, changedAt: number | undefined, handled: number) {
      reached = { sequence, changedAt: changedAt ?? reached?.changedAt };
      records += handled;
    },
    // For a shard that has ended: `finish` writes its last position.
    forget(): string | undefined {
      const sequence = reached?.sequence;
      reached = undefined;
      return sequence;
    },
    dueInMs,
    keepIfDue: async () => (dueInMs() === 0 ? keep() : undefined),
    keep,
  };
}

// A process that others may take for gone has lost its leases, however long they are.
const holds = ({ owners, clock }: TaskDeps, lease: Lease): boolean =>
  clock.now() < Math.min(lease.untilMs, owners.aliveUntilMs?.() ?? lease.untilMs);

const sequenceOf = (record: StreamRecord): string => record.dynamodb!.SequenceNumber!;
const timeOf = (record: StreamRecord): number =>
  secondsOf(record.dynamodb?.ApproximateCreationDateTime) * 1000;

// Returns how many records of the page, from its start, are done.
async function handleAll(
  deps: TaskDeps,
  lease: ShardLease,
  { records }: Page,
  canContinue: () => boolean,
  signal: AbortSignal,
): Promise<number> {
  if (records.length === 0) return 0;
  const { subscription, clock, random, log, counters } = deps;
  const contextOf = (attempt: number) => contextFor(deps, lease, attempt, signal);
  const job: PageJob = {
    attempts: subscription.attempts ?? limits.attempts,
    concurrency: subscription.concurrency ?? limits.concurrency,
    clock,
    random,
    signal,
    canContinue,
    concerns: record => concerns(subscription, record),
    handle: (record, attempt) => handleOne(subscription, record, contextOf(attempt)),
    async setAside(record, error, attempts) {
      await deps.letters.keep(deps.works, lease, record, error, attempts);
      counters.deadLetters += 1;
      log.error(
        { err: error, eventId: record.eventID, shardId: lease.shardId, attempts },
        'record set aside',
      );
      const after = record.dynamodb?.SequenceNumber;
      deps.onAlarm({ kind: 'set_aside', consumer: subscription.name, shardId: lease.shardId, after });
    },
    onRetry(record, error, attempt) {
      counters.retries += 1;
      log.warn({ err: error, eventId: record.eventID, attempt }, 'record failed, trying again');
    },
  };
  const isWhole =
    subscription.handleBatch !== undefined && (await handleWhole(deps, records, job, contextOf));
  const done = isWhole ? records.length : await handleParts(records, job);
  counters.records += done;
  counters.pages += 1;
  return done;
}

// One by one, as many at a time as a read returns: handlers remember which records of a page they have handled.
async function handleParts(records: readonly StreamRecord[], job: PageJob): Promise<number> {
  for (let start = 0; start < records.length; start += limits.readRecordsMost) {
    const part = records.slice(start, start + limits.readRecordsMost);
    const done = await handlePage(part, job);
    if (done < part.length) return start + done;
  }
  return records.length;
}

// Gives a page to a batch handler. If it keeps failing, its records are handled one by one to find the one that fails.
async function handleWhole(
  { subscription }: TaskDeps,
  records: readonly StreamRecord[],
  job: PageJob,
  contextOf: (attempt: number) => HandlerContext,
): Promise<boolean> {
  const tries = createTries(job.attempts);
  for (let attempt = 1; !tries.areOver() && job.canContinue(); attempt++) {
    try {
      const read = (record: StreamRecord) => readChange(subscription.entities, record);
      const changes = await mapInBatches(records, limits.readInBatch, read);
      markWork('stream consumer', subscription.name);
      await subscription.handleBatch!(changes, contextOf(attempt));
      return true;
    } catch (error) {
      // A handler that stopped because of the signal has not failed.
      if (error instanceof PermanentError || !job.canContinue()) return false;
      tries.count(error);
      job.onRetry(records[0]!, error, attempt);
    }
    await job.clock.sleep(tries.delayMs(job.random), job.signal).catch(() => {});
  }
  return false;
}

const contextFor = (
  { subscription }: TaskDeps,
  { shardId }: ShardLease,
  attempt: number,
  signal: AbortSignal,
): HandlerContext => ({ consumer: subscription.name, shardId, attempt, signal });

async function recover(
  { subscription, works }: TaskDeps,
  { shardId, changedAt }: ShardLease,
  after: string | undefined,
): Promise<void> {
  const gap = { shardId, after, sinceMs: changedAt };
  if (subscription.recover) await subscription.recover(gap);
  else await works.noteMissed(subscription.table.name, gap);
}

// Whether changes were lost.
function noteMishap(
  deps: TaskDeps,
  { shardId }: ShardLease,
  mishap: Mishap,
  after: string | undefined,
): boolean {
  const { subscription, counters, log, onAlarm } = deps;
  // A lost position at the newest record is found again by time.
  if (mishap === 'expired' || mishap === 'lost') {
    counters.expiredIterators += 1;
    return false;
  }
  const alarm: Alarm = { kind: mishap, consumer: subscription.name, shardId, after };
  counters.alarms += 1;
  log.error(alarm, 'records were removed from the stream before they were read');
  onAlarm(alarm);
  return true;
}
