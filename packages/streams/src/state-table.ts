import { defineQuery, defineTable, entity } from '@stak/table';
import { z } from 'zod';

// What consumers remember. Times are milliseconds, but for `expires_at`, which DynamoDB wants in seconds.

export const streamsTable = defineTable({
  name: 'stak-streams',
  description: 'Checkpoints, leases, dead letters and once-only markers of stream consumers',
  keys: { partition: 'pk', sort: 'sk' },
  ttl: 'expires_at',
});

const time = z.number().int();
const expiry = z.number().int().optional();

export const beginning = entity(streamsTable, {
  name: 'Beginning',
  description: 'Where a consumer began when it ran for the first time',
  schema: z.object({
    consumer: z.string(),
    table: z.string(),
    position: z.enum(['TRIM_HORIZON', 'LATEST']),
    started_at: time,
  }),
  key: { partition: 'consumers', sort: '{consumer}' },
});

export const member = entity(streamsTable, {
  name: 'Member',
  description: 'A process that runs the consumer; shards are shared among those alive',
  schema: z.object({ consumer: z.string(), owner: z.string(), alive_until: time, expires_at: expiry }),
  key: { partition: 'consumer#{consumer}', sort: 'member#{owner}' },
});

export const work = entity(streamsTable, {
  name: 'Work',
  description: 'A shard, or the redrive of dead letters: who works on it and how far it is done',
  schema: z.object({
    consumer: z.string(),
    work: z.string(),
    stream_arn: z.string().optional(),
    shard_id: z.string().optional(),
    owner: z.string().optional(),
    lease_until: time.optional(),
    // Counted up by every new owner: a write that carries an older one is refused.
    fence: z.number().int(),
    sequence: z.string().optional(),
    changed_at: time.optional(),
    requested_at: time.optional(),
    finished_at: time.optional(),
    expires_at: expiry,
  }),
  key: { partition: 'consumer#{consumer}', sort: 'work#{work}' },
});

export const letter = entity(streamsTable, {
  name: 'DeadLetter',
  description: 'A record that could not be handled, whole, with the reason',
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
});

export const letterPart = entity(streamsTable, {
  name: 'DeadLetterPart',
  description: 'What of a dead letter did not fit into one item',
  schema: z.object({
    consumer: z.string(),
    work: z.string(),
    sequence: z.string(),
    part: z.number().int(),
    record: z.string(),
  }),
  key: { partition: 'parts#{consumer}', sort: '{work}#{sequence}#{part:3}' },
});

export const marker = entity(streamsTable, {
  name: 'Marker',
  description: 'Written together with the effect of an event, so that there is only one',
  schema: z.object({ consumer: z.string(), event_id: z.string(), done_at: time, expires_at: expiry }),
  key: { partition: 'once#{consumer}#{event_id}', sort: 'done' },
});

export const allConsumers = defineQuery('all consumers', { of: beginning });
export const stateOfConsumer = defineQuery('state of a consumer', { of: [member, work], consistent: true });
export const lettersOfConsumer = defineQuery('dead letters of a consumer', { of: letter });
export const partsOfLetter = defineQuery('parts of a dead letter', { of: letterPart, consistent: true });
