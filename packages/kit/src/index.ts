export { type Backoff, backoffMs, doubledMs } from './backoff.ts';
export {
  type Asker,
  causeOfRequest,
  type Find,
  type Findings,
  type Ref,
  readCause,
  readRef,
  refOfCause,
  refText,
  type Thing,
} from './cause.ts';
export { type Cancel, type Clock, systemClock } from './clock.ts';
export { csvLine } from './csv.ts';
export { AppError, defineErrors, type ErrorCatalogue } from './errors.ts';
export {
  type EventLoopDelay,
  type EventLoopWatch,
  markWork,
  watchEventLoop,
} from './event-loop.ts';
export { createHub, type Hub, type Subscriber } from './hub.ts';
export { collectGarbage, type IdleMemorySettings, releaseMemoryWhenIdle } from './idle-memory.ts';
export { createIds, type Ids, timeOf } from './ids.ts';
export { createKeyedLock, type KeyedLock } from './keyed-lock.ts';
export { hostChars } from './limits.ts';
export { createLogger, type Logger, type LoggerSettings } from './log.ts';
export { type ManualClock, manualClock } from './manual-clock.ts';
export { type ManualOwners, manualOwners } from './manual-owners.ts';
export { type MaybePromise, whenKnown } from './maybe-promise.ts';
export { createNotifier, type Notifier } from './notifier.ts';
export {
  type Neighbours,
  type Owners,
  type Peers,
  sharedPollMs,
  storeOwners,
  unknownOwners,
  waitsOfRank,
  watchGone,
} from './owners.ts';
export { backgroundPriority, lowerPriority } from './priority.ts';
export { type Random, seededRandom, systemRandom } from './random.ts';
export { readTogether } from './read-together.ts';
export { createRecentMap, type RecentMap, type Weighing } from './recent-map.ts';
export {
  createSealer,
  looksSealed,
  SealError,
  type Sealer,
  type SealerSettings,
  type SealKey,
} from './sealer.ts';
export { createSemaphore, runAtMost, type Semaphore } from './semaphore.ts';
export { createShardCount, type ShardCount, type ShardCountDeps } from './shard-count.ts';
export { cutText, isName, isOneLine } from './text.ts';
export { createTimedCache, type TimedCache } from './timed-cache.ts';
export {
  currentTraceparent,
  inSpan,
  isTraced,
  isTracing,
  type SpanOptions,
  setTracing,
  type TracedSpan,
  traceIds,
} from './tracing.ts';
export { parseUrl } from './url.ts';
export {
  type Supervisor,
  superviseWorkers,
  type Worker,
  type WorkerSettings,
  type WorkerState,
} from './workers.ts';
export { createBatches, mapInBatches, yieldIfBusy, yieldToEventLoop } from './yield.ts';
