import { defineKeys, defineQuery, defineTable, entity } from '@stak/table';
import { z } from 'zod';

const keys = defineKeys({
  name: 'langgraph',
  description: 'Checkpoints of graphs, and the store that graphs share.',
  keys: { partition: 'pk', sort: 'sk' },
});

const binary = z.custom<Uint8Array>(value => value instanceof Uint8Array);
// A value as the serializer wrote it: in place, or as the hashes of its chunks, 20 bytes each.
const stored = z.object({
  type: z.string(),
  bytes: binary.optional(),
  chunks: binary.optional(),
});
export type StoredValue = z.infer<typeof stored>;

export const checkpoint = entity(keys, {
  name: 'checkpoint',
  description:
    'One state of a thread. Values that are longer than a reference lie in chunks, which checkpoints share.',
  schema: z.object({
    thread_id: z.string(),
    ns: z.string().describe('`~` and the namespace, which may be empty'),
    checkpoint_id: z.string(),
    parent_id: z.string().optional(),
    body: stored.describe('without the values of the channels'),
    metadata: stored,
    channels: z.record(z.string(), stored),
  }),
  key: { partition: 'THREAD#{thread_id:text}', sort: 'CP#{ns:text}#{checkpoint_id:text}' },
});

export const pendingWrite = entity(keys, {
  name: 'pending write',
  description: 'What a task wrote since a checkpoint.',
  schema: z.object({
    thread_id: z.string(),
    ns: z.string(),
    checkpoint_id: z.string(),
    task_id: z.string(),
    position: z.number().int().describe('its index, from 100 up; those below are special channels'),
    channel: z.string(),
    value: stored,
  }),
  key: {
    partition: 'THREAD#{thread_id:text}',
    sort: 'WR#{ns:text}#{checkpoint_id:text}#{task_id:text}#{position:6}',
  },
});

export const chunk = entity(keys, {
  name: 'chunk',
  description: 'A piece of a value, named by its hash.',
  schema: z.object({ thread_id: z.string(), hash: z.string(), bytes: binary }),
  key: { partition: 'THREAD#{thread_id:text}', sort: 'CHUNK#{hash}' },
});

export const thread = entity(keys, {
  name: 'thread',
  description: 'Lists the threads, which would otherwise take a Scan.',
  schema: z.object({ shard: z.string(), thread_id: z.string() }),
  key: { partition: 'THREADS#{shard}', sort: '{thread_id:text}' },
});

export const item = entity(keys, {
  name: 'item',
  description: 'What graphs keep in their store.',
  schema: z.object({
    path: z.string().describe('the namespace: its parts, percent-encoded, each followed by /'),
    key: z.string(),
    value: z.string().describe('JSON'),
    vectors: z.array(binary).optional().describe('32-bit floats'),
    created_at: z.string(),
    updated_at: z.string(),
  }),
  key: { partition: 'ITEMS#{path}', sort: '{key:text}' },
});

export const namespace = entity(keys, {
  name: 'namespace',
  schema: z.object({ root: z.string(), path: z.string() }),
  key: { partition: 'NAMESPACES#{root:text}', sort: '{path}' },
});

export const root = entity(keys, {
  name: 'root',
  description: 'The first part of namespaces.',
  schema: z.object({ all: z.literal('all'), root: z.string() }),
  key: { partition: 'ROOTS#{all}', sort: '{root:text}' },
});

export const checkpointsOfThread = defineQuery('checkpoints of a thread', {
  of: checkpoint,
  consistent: true,
});
export const writesOfCheckpoint = defineQuery('pending writes of a checkpoint', {
  of: pendingWrite,
  consistent: true,
});
export const allOfThread = defineQuery('everything of a thread', {
  of: [checkpoint, pendingWrite, chunk],
  consistent: true,
});
export const threadsOfShard = defineQuery('threads', { of: thread, consistent: true });
export const itemsOfNamespace = defineQuery('items of a namespace', { of: item, consistent: true });
export const namespacesOfRoot = defineQuery('namespaces', { of: namespace, consistent: true });
export const roots = defineQuery('roots', { of: root, consistent: true });

/** The table that both use. Create it with `createTables(engine, [langgraphTable])`. */
export const langgraphTable = defineTable(keys, {
  entities: [checkpoint, pendingWrite, chunk, thread, item, namespace, root],
  queries: [
    checkpointsOfThread,
    writesOfCheckpoint,
    allOfThread,
    threadsOfShard,
    itemsOfNamespace,
    namespacesOfRoot,
    roots,
  ],
});
