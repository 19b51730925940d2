import { defineKeys, defineQuery, defineTable, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';

// Has no stream: counting the counters' own writes would never end.
const storageKeys = defineKeys({
  name: 'stak-storage',
  description: 'How many bytes of the other tables belong to each account, and how far they are counted.',
  keys: { partition: 'pk', sort: 'sk' },
  ttl: 'expires_at',
});

const ms = z.int().describe('Unix timestamp (ms)');
const seconds = z.int().describe('The second at which it expires');

export const count = entity(storageKeys, {
  name: 'count',
  description:
    "What one service keeps for one account in one table: the sum of a scan, and the sums of changes since. The account `*` is everyone's sum.",
  schema: z.object({
    account_id: z.string(),
    table: z.string(),
    service: z.string(),
    generation: z.int().describe('Counts of an older generation than the table’s are void'),
    slot: z
      .string()
      .describe('`scan`, or a number derived from the stream’s shard, so that shards rarely conflict'),
    bytes: z.int().describe('As DynamoDB measures items; negative in some slots'),
    items: z.int(),
  }),
  key: { partition: 'account#{account_id}', sort: '{table}#{service}#{generation:8}#{slot}' },
  examples: [
    {
      account_id: 'usr_1',
      table: 'stak-inbox',
      service: 'inbox',
      generation: 1,
      slot: '0',
      bytes: 52_311,
      items: 120,
    },
  ],
});

export const written = entity(storageKeys, {
  name: 'written in a day',
  description:
    'How much an account has written on a day, kept or not: the change log and the lake have every version of an item.',
  schema: z.object({
    account_id: z.string(),
    day: z.string().describe('Like 2026-03-31, in UTC'),
    slot: z.string().describe('As of a count, with the table; `answers` for stored answers of requests'),
    bytes: z.int(),
    expires_at: seconds,
  }),
  key: { partition: 'account#{account_id}', sort: 'written#{day}#{slot}' },
  examples: [
    { account_id: 'usr_1', day: '2026-01-01', slot: 'stak-inbox 0', bytes: 104_622, expires_at: 1767571200 },
  ],
});

export const mark = entity(storageKeys, {
  name: 'mark',
  description: 'How far a shard of a stream is counted. Updated in the transaction that adds to the counts.',
  schema: z.object({
    table: z.string(),
    shard: z.string(),
    through: z.string().describe('The last sequence number; empty at the beginning'),
    generation: z.int(),
    held_by: z.string().optional().describe('The recount that holds the shard: nothing else may count it'),
    expires_at: seconds,
  }),
  key: { partition: 'marks#{table}', sort: '{shard}' },
  examples: [
    {
      table: 'stak-inbox',
      shard: 'shardId-1',
      through: '100000000000000000001',
      generation: 1,
      expires_at: 1,
    },
  ],
});
export type Mark = ItemOf<typeof mark>;

export const tableState = entity(storageKeys, {
  name: 'table',
  description: 'Which generation of counts is valid, and who recounts.',
  schema: z.object({
    table: z.string(),
    generation: z.int().describe('0: it was never counted'),
    tried: z.int().describe('The newest generation whose count was started'),
    counted_at: ms.optional(),
    requested_at: ms.optional().describe('When an operator requested a recount'),
    holder: z.string().optional(),
    holder_until: ms.optional(),
  }),
  key: { partition: 'tables', sort: '{table}' },
  examples: [{ table: 'stak-inbox', generation: 1, tried: 1, counted_at: 1767225600000 }],
});
export type TableState = ItemOf<typeof tableState>;

export const ownerAccount = entity(storageKeys, {
  name: 'account of an owner',
  description: 'Outlives its tenant or source, whose items are still being removed after it is deleted.',
  schema: z.object({ kind: z.string(), id: z.string(), account_id: z.string(), expires_at: seconds }),
  key: { partition: 'owner#{kind}#{id:text}', sort: 'account' },
  examples: [{ kind: 'tenant', id: 'acme', account_id: 'usr_1', expires_at: 1 }],
});

export const countsOfAccount = defineQuery('storage of an account', {
  of: [count, written],
  consistent: true,
});
export const tableStates = defineQuery('tables that are counted', { of: tableState, consistent: true });

export const storageTable = defineTable(storageKeys, {
  entities: [count, written, mark, tableState, ownerAccount],
  queries: [countsOfAccount, tableStates],
});
