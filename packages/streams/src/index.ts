export { type CatchUp, createCatchUp } from './consumers/catch-up.ts';
export { type Consumer, type ConsumerOptions, createConsumer } from './consumers/consumer.ts';
export { createDeadLetterWatch, type DeadLetterWatch } from './consumers/dead-letter-watch.ts';
export { createFollower, type FollowerOptions } from './consumers/follower.ts';
export { type HandOver, handOver } from './consumers/hand-over.ts';
export { type LambdaAnswer, type LambdaEvent, type LambdaOptions, toLambda } from './consumers/lambda.ts';
export { createMissedWatch, type MissedChanges, type MissedWatch } from './consumers/missed-watch.ts';
export { type EffectSteps, oncePerEvent, writeOnce } from './consumers/once-per-event.ts';
export { type ConsumerStatus, listConsumers, readStatus, type ShardStatus } from './consumers/status.ts';
export { type TailOptions, tailTable } from './consumers/tail.ts';
export { PermanentError, streamErrors } from './errors.ts';
export { memberLookMs } from './limits.ts';
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
} from './source/change.ts';
export { engineSource, type StreamingEngine } from './source/engine-source.ts';
export { changesAfter, isAfter, slotOf } from './source/sequence.ts';
export { listShards, type Shard } from './source/shards.ts';
export { type SharedReads, shareReads } from './source/shared-reads.ts';
export { type StreamRecord, type StreamSource, sourceWithPrefix } from './source/source.ts';
export type { Counters } from './work/counters.ts';
export { createDeadLetters, type DeadLetter } from './work/dead-letters.ts';
export { requestRedrive } from './work/redrive.ts';
export type { Alarm } from './work/shard-task.ts';
export { consumerState, streamsKeys, streamsTable } from './work/state-table.ts';
export { type Gap, type HandlerContext, type Subscription, subscribe } from './work/subscription.ts';
