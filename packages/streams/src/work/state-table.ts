import { defineKeys, defineQuery, defineTable, entity } from '@stak/table';
import { z } from 'zod';

// The stored state of consumers. Times are in milliseconds, except `expires_at`, which DynamoDB requires in seconds.

/** The keys of `streamsTable`, for services that add entities to it. */
export const streamsKeys = defineKeys({
  name: 'stak-streams',
  description: 'Checkpoints, leases, dead letters and once-only markers of stream consumers.',
  keys: { partition: 'pk', sort: 'sk' },
  ttl: 'expires_at',
});

const time = z.number().int();
const expiry = z.number().int().optional();

export const beginning = entity(streamsKeys, {
  name: 'beginning',
  description: 'Where a consumer began when it ran for the first time.',
  schema: z.object({
    consumer: z.string(),
    table: z.string(),
    position: z.enum(['TRIM_HORIZON', 'LATEST']),
    started_at: time,
    // A Lambda function reads the stream; consumers here only redrive its dead letters.
    elsewhere: z.boolean().optional(),
  }),
  key: { partition: 'consumers', sort: '{consumer}' },
  examples: [
    { consumer: 'inbox-reads', table: 'stak-inbox', position: 'TRIM_HORIZON', started_at: 1767225600000 },
  ],
});

export const member = entity(streamsKeys, {
  name: 'member',
  description: 'A process that runs the consumer; shards are shared among those alive.',
  schema: z.object({
    consumer: z.string(),
    owner: z.string(),
    // Consumers that share reads have the same node.
    node: z.string().optional(),
    alive_until: time,
    expires_at: expiry,
  }),
  key: { partition: 'consumer#{consumer}', sort: 'member#{owner}' },
  examples: [{ consumer: 'inbox-reads', owner: 'own_1', node: 'node-1', alive_until: 1767225615000 }],
});

export const work = entity(streamsKeys, {
  name: 'work',
  description: 'A shard, or the redrive of dead letters: who works on it and how far it is done.',
  schema: z.object({
    consumer: z.string(),
    work: z.string(),
    stream_arn: z.string().optional(),
    shard_id: z.string().optional(),
    owner: z.string().optional(),
    lease_until: time.optional(),
    // Incremented by every new owner: a write with an older fence is refused.
    fence: z.number().int(),
    sequence: z.string().optional(),
    changed_at: time.optional(),
    requested_at: time.optional(),
    finished_at: time.optional(),
    expires_at: expiry,
  }),
  key: { partition: 'consumer#{consumer}', sort: 'work#{work}' },
  examples: [{ consumer: 'inbox-reads', work: 'label/shard-1', fence: 1, owner: 'own_1', sequence: '100' }],
});

export const letter = entity(streamsKeys, {
  name: 'dead letter',
  description: 'A record that could not be handled, whole, with the reason.',
  schema: z.object({
    consumer: z.string(),
    work: z.string(),
    sequence: z.string(),
    event_id: z.string(),
    shard_id: z.string(),
    error: z.string(),
    attempts: z.number().int(),
    failed_at: time,
    // The first part of the record's JSON, and how many more there are.
    record: z.string(),
    more_parts: z.number().int(),
  }),
  key: { partition: 'letters#{consumer}', sort: '{work}#{sequence}' },
  examples: [
    {
      consumer: 'inbox-reads',
      work: 'label/shard-1',
      sequence: '100',
      event_id: 'e1',
      shard_id: 'shard-1',
      error: 'Error: no route to host',
      attempts: 5,
      failed_at: 1767225600000,
      record: '{}',
      more_parts: 1,
    },
  ],
});

export const letterPart = entity(streamsKeys, {
  name: 'dead letter part',
  description: 'What of a dead letter did not fit into one item.',
  schema: z.object({
    consumer: z.string(),
    work: z.string(),
    sequence: z.string(),
    part: z.number().int(),
    record: z.string(),
  }),
  key: { partition: 'parts#{consumer}', sort: '{work}#{sequence}#{part:3}' },
  examples: [{ consumer: 'inbox-reads', work: 'label/shard-1', sequence: '100', part: 1, record: '{}' }],
});

export const missed = entity(streamsKeys, {
  name: 'missed changes',
  description: 'A consumer has lost changes: the stream removed them before they were read.',
  schema: z.object({
    consumer: z.string(),
    table: z.string(),
    shard_id: z.string(),
    since: time.optional().describe('When the last change was written that it had handled before'),
    noticed_at: time,
  }),
  key: { partition: 'missed', sort: '{consumer}' },
  examples: [
    {
      consumer: 'webhooks-counts',
      table: 'ferryhook-events',
      shard_id: 'shard-1',
      noticed_at: 1767225600000,
    },
  ],
});

export const marker = entity(streamsKeys, {
  name: 'marker',
  description: 'Written together with the effect of an event, so that there is only one.',
  schema: z.object({ consumer: z.string(), event_id: z.string(), done_at: time, expires_at: expiry }),
  key: { partition: 'once#{consumer}#{event_id}', sort: 'done' },
  examples: [{ consumer: 'inbox-reads', event_id: 'e1', done_at: 1767225600000, expires_at: 1768435200 }],
});

/** The entities of consumers' progress. They belong to one store, unlike letters and markers. */
export const consumerState = [beginning, member, work, missed] as const;

export const allConsumers = defineQuery('all consumers', { of: beginning });
export const stateOfConsumer = defineQuery('state of a consumer', { of: [member, work], consistent: true });
export const lettersOfConsumer = defineQuery('dead letters of a consumer', { of: letter });
export const allMissed = defineQuery('consumers that missed changes', { of: missed });
export const partsOfLetter = defineQuery('parts of a dead letter', { of: letterPart, consistent: true });

/** The table in which consumers keep checkpoints, leases, dead letters and markers. Create it with `createTables`. */
export const streamsTable = defineTable(streamsKeys, {
  entities: [beginning, member, work, missed, letter, letterPart, marker],
  queries: [allConsumers, stateOfConsumer, allMissed, lettersOfConsumer, partsOfLetter],
});
