import { defineKeys, defineTable, entity } from '@stak/table';
import { z } from 'zod';

// State shared by the processes that serve one API. Times are in milliseconds, except `expires_at`, which DynamoDB
// requires in seconds.
const httpKeys = defineKeys({
  name: 'stak-http',
  description:
    'Idempotency keys with their answers, the limits that hold over all processes, and notices of what is revoked.',
  keys: { partition: 'pk' },
  ttl: 'expires_at',
});

const time = z.number().int();
const bytes = z.custom<Uint8Array>(value => value instanceof Uint8Array);

export const keyedRequest = entity(httpKeys, {
  name: 'keyed request',
  description: 'A request with an Idempotency-Key: in flight, or given up, while it has no status.',
  schema: z.object({
    key: z.string(),
    fingerprint: z.string().describe('hash of the request'),
    attempt: z.string().describe('the attempt that holds the key: writes of others are refused'),
    first_attempt: z
      .string()
      .optional()
      .describe('the first attempt: those after it create things under the same ids'),
    first_at: time.optional(),
    until: time.describe('end of the lease, or of the answer; 0 if the attempt was given up'),
    status: z.number().int().optional(),
    headers: z.array(z.tuple([z.string(), z.string()])).optional(),
    body: bytes.optional().describe('bytes, sealed'),
    expires_at: time,
  }),
  key: { partition: 'key#{key}' },
  examples: [
    {
      key: 'EXu0cf5zdzZ2hsCzcYFL0t3lFHoVWRbC8BfFJ1Z3mS8',
      fingerprint: 'wPsqvHMzl4qUDhnZlqvqmBqAvc8MrN5cqyBuSoAlVeo',
      attempt: '0mjuxvy9s00k1g5xq0d8w3ut',
      first_attempt: '0mjuxvy9s00k1g5xq0d8w3ut',
      first_at: 1767225600000,
      until: 1767312000000,
      status: 201,
      headers: [['content-type', 'application/json']],
      body: new Uint8Array(400),
      expires_at: 1767312001,
    },
  ],
});

export const sharedBucket = entity(httpKeys, {
  name: 'shared bucket',
  description: 'How much of a limit that all processes share is used up.',
  schema: z.object({
    counted: z.string().describe('hash of the policy and of whom it counts'),
    used: z.number().int().describe('in milliseconds times the limit'),
    at: time,
    expires_at: time.describe('when it is full again, and so as good as gone'),
  }),
  key: { partition: 'rate#{counted}' },
  examples: [
    {
      counted: 'Jp2fUPl7rC1gTgZzTQ5LQ2rBv0G1cKQ2d7dF3hV7QyY',
      used: 60000,
      at: 1767225600000,
      expires_at: 1767225606,
    },
  ],
});

export const revocationSlot = entity(httpKeys, {
  name: 'revocation slot',
  description: 'Whose open streams every process has to look at again, for a few seconds.',
  schema: z.object({
    slot: z.number().int().describe('of time'),
    notices: z.set(z.string()).describe('an id and a subject each: an account, a tenant, or a user of one'),
    expires_at: time,
  }),
  key: { partition: 'revoked#{slot}' },
  examples: [
    {
      slot: 353445120,
      notices: new Set(['fA9c0sK2vQ1x account usr_0mjuxvy9s00k1g5xq0d8w3ut']),
      expires_at: 1767225615,
    },
  ],
});

export const httpTable = defineTable(httpKeys, {
  entities: [keyedRequest, sharedBucket, revocationSlot],
  queries: [],
});
