export { type CatchUp, createCatchUp } from './catch-up.ts';
export {
  type Change,
  type ChangeKind,
  type ChangeOf,
  continues,
  importedAt,
  isImported,
  readImage,
  readImageJson,
  type UnknownChange,
} from './change.ts';
export { type Consumer, type ConsumerOptions, createConsumer } from './consumer.ts';
export type { Counters } from './counters.ts';
export { createDeadLetterWatch, type DeadLetterWatch } from './dead-letter-watch.ts';
export { createDeadLetters, type DeadLetter } from './dead-letters.ts';
export { engineSource, type StreamingEngine } from './engine-source.ts';
export { PermanentError, streamErrors } from './errors.ts';
export { createFollower, type FollowerOptions } from './follower.ts';
export { type HandOver, handOver } from './hand-over.ts';
export { type LambdaAnswer, type LambdaEvent, type LambdaOptions, toLambda } from './lambda.ts';
export { memberLookMs } from './limits.ts';
export { createMissedWatch, type MissedChanges, type MissedWatch } from './missed-watch.ts';
export { type EffectSteps, oncePerEvent, writeOnce } from './once-per-event.ts';
export { requestRedrive } from './redrive.ts';
export { changesAfter, isAfter, slotOf } from './sequence.ts';
export type { Alarm } from './shard-task.ts';
export { listShards, type Shard } from './shards.ts';
export { type SharedReads, shareReads } from './shared-reads.ts';
export { type StreamRecord, type StreamSource, sourceWithPrefix } from './source.ts';
export { consumerState, streamsKeys, streamsTable } from './state-table.ts';
export { type ConsumerStatus, listConsumers, readStatus, type ShardStatus } from './status.ts';
export { type Gap, type HandlerContext, type Subscription, subscribe } from './subscription.ts';
export { type TailOptions, tailTable } from './tail.ts';
