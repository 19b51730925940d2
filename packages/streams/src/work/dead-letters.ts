import { gunzipSync, gzipSync } from 'node:zlib';
import { type Clock, cutText } from '@stak/kit';
import { type ItemOf, type Store, type WriteStep, write } from '@stak/table';
import { LeaseLostError } from '../errors.ts';
import { errorText, letterBytes, letterPartBytes } from '../limits.ts';
import { recordFromJson, recordToJson } from '../source/record-json.ts';
import { labelOf } from '../source/shards.ts';
import type { StreamRecord } from '../source/source.ts';
import { letter, letterPart, lettersOfConsumer, partsOfLetter } from './state-table.ts';
import type { Lease, WorkStore } from './work-store.ts';

/** A record that could not be handled, with the reason. */
export type DeadLetter = ItemOf<typeof letter>;
export type DeadLetters = ReturnType<typeof createDeadLetters>;

type Settings = { store: Store; clock: Clock; consumer: string };

/** The records that a consumer could not handle: to list, open and remove them. */
export function createDeadLetters({ store, clock, consumer }: Settings) {
  // Stores all parts or none, and only while this process owns the shard.
  async function keep(
    works: WorkStore,
    lease: Lease & { shardId: string },
    record: StreamRecord,
    error: unknown,
    attempts: number,
  ): Promise<void> {
    const about = {
      consumer,
      work: lease.key,
      shardId: lease.shardId,
      error,
      attempts,
      failedAt: clock.now(),
    };
    const steps = [['lease', works.stillHeld(lease)] as const, ...letterSteps(about, record)];
    await store.transact(steps).catch(refusal => {
      throw isLost(refusal) ? new LeaseLostError(`${lease.key} belongs to another process`) : refusal;
    });
  }

  // For a Lambda function, which holds no lease and does not know the shard. Storing the same record twice gives one
  // letter.
  async function keepOfLambda(record: StreamRecord, error: unknown, attempts: number): Promise<void> {
    const about = {
      consumer,
      work: `lambda/${labelOf(record.eventSourceARN ?? '')}`,
      shardId: 'lambda',
      error,
      attempts,
      failedAt: clock.now(),
    };
    await store.transact(letterSteps(about, record));
  }

  const list = () => store.all(lettersOfConsumer, { consumer });

  async function open({ work, sequence, record, more_parts }: DeadLetter): Promise<StreamRecord> {
    let text = record;
    if (more_parts > 0)
      for await (const part of store.all(partsOfLetter, { consumer, work, sequence })) text += part.record;
    return recordFromJson(JSON.parse(unpack(text)) as StreamRecord);
  }

  async function remove({ work, sequence, more_parts }: DeadLetter): Promise<void> {
    const letterKey = { consumer, work, sequence };
    const parts = Array.from(
      { length: more_parts },
      (_, part) => [`part ${part}`, write.delete(letterPart, { ...letterKey, part })] as const,
    );
    await store.transact([['letter', write.delete(letter, letterKey)], ...parts]);
  }

  async function failAgain({ work, sequence, attempts }: DeadLetter, error: unknown): Promise<void> {
    const set = { error: describe(error), attempts: attempts + 1, failed_at: clock.now() };
    await store.update(letter, { consumer, work, sequence }, { set });
  }

  return { keep, keepOfLambda, list, open, remove, failAgain };
}

export type AboutLetter = {
  consumer: string;
  work: string;
  shardId: string;
  error: unknown;
  attempts: number;
  failedAt: number;
};

// The record, split over as many items as it needs.
export function letterSteps(about: AboutLetter, record: StreamRecord): (readonly [string, WriteStep])[] {
  const { consumer, work, shardId, error, attempts, failedAt } = about;
  const [first = '', ...others] = splitText(pack(recordToJson(record)), letterPartBytes);
  const letterKey = { consumer, work, sequence: record.dynamodb?.SequenceNumber ?? 'unknown' };
  const head = write.put(letter, {
    ...letterKey,
    event_id: record.eventID ?? 'unknown',
    shard_id: shardId,
    error: describe(error),
    attempts,
    failed_at: failedAt,
    record: first,
    more_parts: others.length,
  });
  const parts = others.map(
    (text, part) => [`part ${part}`, write.put(letterPart, { ...letterKey, part, record: text })] as const,
  );
  return [['letter', head], ...parts];
}

// Control characters make JSON six times as long, which exceeds a transaction unless it is compressed.
const pack = (json: string): string =>
  Buffer.byteLength(json) <= letterBytes ? json : gzipSync(json).toString('base64');

const unpack = (text: string): string =>
  text.startsWith('{') ? text : gunzipSync(Buffer.from(text, 'base64')).toString();

function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return cutText(text, errorText) || 'no reason given';
}

// Splits by bytes, never inside a surrogate pair.
function splitText(text: string, maxBytes: number): string[] {
  const parts: string[] = [];
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(start + maxBytes, bytes.length);
    while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
    parts.push(bytes.toString('utf8', start, end));
    start = end;
  }
  return parts;
}

type Failures = { details?: { failures?: { step: string; reason: string }[] } };

const isLost = (error: unknown): boolean =>
  ((error as Failures).details?.failures ?? []).some(
    ({ step, reason }) => step === 'lease' && reason === 'condition_failed',
  );
