import assert from 'node:assert';
import { inSpan, markWork } from '@stak/kit';
import type { AnyEntity, Attributes } from '@stak/table';
import * as limits from '../limits.ts';
import { type Change, type ChangeOf, mayBeOf, readChange, type UnknownChange } from '../source/change.ts';
import type { StreamRecord } from '../source/source.ts';

/** A handler gets this in addition to the change. */
export type HandlerContext = {
  readonly consumer: string;
  readonly shardId?: string; // absent in Lambda
  readonly attempt: number; // starts at 1
  // Aborted when the consumer stops or has lost the shard: finish quickly, or throw.
  readonly signal: AbortSignal;
};

/** Changes of a shard that were removed before they were read. */
export type Gap = {
  readonly shardId: string;
  // The last change that was handled, and when it was written. Absent: none was.
  readonly after?: string | undefined;
  readonly sinceMs?: number | undefined;
};

/**
 * A handler of a table's changes. The same subscription runs in a consumer and in Lambda. A handler may see a change
 * more than once (see `oncePerEvent`), but never two changes of one item out of order.
 */
export type Subscription<E extends AnyEntity = AnyEntity> = {
  // Checkpoints and dead letters are stored under this name: two subscriptions with one name are one consumer.
  readonly name: string;
  readonly table: { readonly name: string; readonly stream?: string };
  // Changes of these entities are typed and go to `handle`; all others go to `handleOther`, or are skipped.
  readonly entities: readonly E[];
  handle?(change: ChangeOf<E>, context: HandlerContext): unknown;
  handleOther?(change: UnknownChange, context: HandlerContext): unknown;
  // Instead of the two above: gets whole pages. A page that keeps failing is handled record by record.
  handleBatch?(changes: readonly Change<E>[], context: HandlerContext): unknown;
  // Called before anything else is handled if the stream has removed changes that were not read, for example because no
  // process ran for a day: gets back from the table what they had changed. Without it, the loss is noted for operators.
  recover?(gap: Gap): Promise<void>;
  // Whether this process can handle changes now: false while it cannot reach what the handler writes to. Its share then
  // goes to other processes, and it takes one again when this returns true. Asked every few seconds. By default, always.
  isAble?(): boolean;
  // The position at which a new consumer starts.
  readonly startAt?: 'TRIM_HORIZON' | 'LATEST';
  readonly attempts?: number;
  readonly batchRecords?: number;
  // How long a consumer waits before it reads a change, so that the next changes are in the same page: for handlers
  // that write once a page.
  readonly gatherMs?: number;
  // How many items of one shard may be handled at a time.
  readonly concurrency?: number;
  // The handler needs the id of the shard or the memory of its process, which a Lambda function does not have, so
  // `toLambda` refuses it.
  readonly needsConsumer?: boolean;
};

const nameShape = /^[a-z0-9][a-z0-9._-]{0,99}$/;

/**
 * Defines a handler of a table's changes. Infers the types of the entities for the handlers, and refuses combinations
 * that cannot work.
 *
 *     const welcome = subscribe({
 *       name: 'welcome',
 *       table: people,
 *       entities: [person],
 *       async handle(change) {
 *         if (change.kind === 'insert') await greet(change.new);
 *       },
 *     });
 */
export function subscribe<const E extends AnyEntity>(subscription: Subscription<E>): Subscription<E> {
  const { name, table, entities, attempts = 1, batchRecords = 1, concurrency = 1 } = subscription;
  assert(nameShape.test(name), `"${name}" is not a valid consumer name: use a-z, 0-9, dots and dashes`);
  assert(
    subscription.handleBatch ? !subscription.handle && !subscription.handleOther : true,
    `${name}: either handleBatch or handlers of single changes`,
  );
  assert(
    subscription.handle || subscription.handleOther || subscription.handleBatch,
    `${name} handles nothing`,
  );
  for (const entity of entities)
    assert(entity.table.name === table.name, `${name}: ${entity.name} is not in ${table.name}`);
  const hasImages = table.stream === undefined || table.stream === 'NEW_AND_OLD_IMAGES';
  assert(entities.length === 0 || hasImages, `${name}: typed changes need both images in the stream`);
  assertBetween(`${name}: attempts`, attempts, Number.MAX_SAFE_INTEGER);
  assertBetween(`${name}: batchRecords`, batchRecords, limits.batchRecordsMost);
  assertBetween(`${name}: concurrency`, concurrency, limits.concurrencyMost);
  return subscription;
}

const assertBetween = (what: string, value: number, most: number) =>
  assert(Number.isInteger(value) && value >= 1 && value <= most, `${what} must be from 1 to ${most}`);

// Most changes of a table concern few of its consumers: callers of `handleOne` ask this first.
export const concerns = (
  { entities, handleBatch, handleOther }: Subscription,
  record: StreamRecord,
): boolean => handleBatch !== undefined || handleOther !== undefined || mayBeOf(entities, record);

export async function handleOne(
  subscription: Subscription,
  record: StreamRecord,
  context: HandlerContext,
): Promise<void> {
  markWork('stream consumer', subscription.name);
  const change = readChange(subscription.entities, record);
  const handle = async () => {
    if (subscription.handleBatch) await subscription.handleBatch([change], context);
    else if (change.entity === undefined) await subscription.handleOther?.(change, context);
    else await subscription.handle?.(change as ChangeOf<AnyEntity>, context);
  };
  const trace: unknown = (change.new as Attributes | undefined)?.[traceAttribute];
  if (typeof trace !== 'string') return handle();
  await inSpan(`consume ${subscription.name}`, { traceparent: trace }, handle);
}

// An item that carries a traceparent in this attribute is traced through its consumers.
const traceAttribute = 'trace';
