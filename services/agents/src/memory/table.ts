import { defineQuery, entity } from '@stak/table';
import { tenantsKeys } from '@stak/tenants/tables';
import { z } from 'zod';
import { conversationsKeys } from '../table.ts';

// In the table of tenants, as in its design document.

export const keyFact = z.object({
  fact_id: z.string(),
  fact: z.string(),
  created_at: z.string(),
  source: z.string().describe('`user` asked for it, `edited` through the API, `conversation` by a model'),
  seq: z.number().int().optional().describe('the turn it was said in'),
  supersedes: z.string().optional().describe('the fact that it replaced'),
});

export const memory = entity(tenantsKeys, {
  name: 'memory of a user',
  description: 'What is remembered of a user, by the conversation it came from.',
  schema: z.object({
    tenant_id: z.string(),
    user_id: z.string(),
    session_id: z.string().describe('the conversation'),
    summary: z.string().optional(),
    key_facts: z.string().describe('JSON: [{"fact_id", "fact", "created_at", "source", "seq"}]'),
    created_at: z.string(),
    updated_at: z.string(),
    version: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'MEMORY#{user_id}#{session_id}' },
  version: 'version',
});

export const memoryChoice = entity(tenantsKeys, {
  name: 'memory choice of a user',
  description: 'A user who opted out of memory.',
  schema: z.object({ tenant_id: z.string(), user_id: z.string(), declined_at: z.string() }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'NOMEMORY#{user_id}' },
});

export const forgotten = entity(tenantsKeys, {
  name: 'what a user had forgotten',
  description: 'Words and turns that are left out where earlier conversations are searched and summarised.',
  schema: z.object({
    tenant_id: z.string(),
    user_id: z.string(),
    sealed: z.string().describe('JSON, sealed: [{"at", "words", "turn"}]'),
    version: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'FORGOTTEN#{user_id}' },
  version: 'version',
});

export const memoriesOfUser = defineQuery('memory of a user', { of: memory, consistent: true });
export const memoriesOfTenant = defineQuery('memory of a tenant', { of: memory, consistent: true });
export const choicesOfTenant = defineQuery('memory choices of a tenant', {
  of: memoryChoice,
  consistent: true,
});

export const forgottenOfTenant = defineQuery('what users of a tenant had forgotten', {
  of: forgotten,
  consistent: true,
});

// In the table of conversations.
export const memoryJob = entity(conversationsKeys, {
  name: 'memory job',
  description: 'Turns of a conversation to summarise. Deleted in the transaction that stores the summary.',
  schema: z.object({
    tenant_id: z.string(),
    conversation_id: z.string(),
    user_id: z.string(),
    epoch: z.number().int(),
    from_seq: z.number().int(),
    to_seq: z.number().int(),
    attempts: z.number().int().min(0),
    fence: z.string().optional().describe('the lease: only its holder stores a summary'),
    leased_until: z.number().optional().describe('millisecond'),
    due_lane: z.string(),
    due_at: z.number().int().describe('millisecond at which a worker handles it'),
  }),
  key: { partition: 'CONV#{tenant_id}#{conversation_id}', sort: 'MEMORYJOB' },
  indexes: { due: { partition: 'DUEMEMORY#{due_lane}', sort: '{due_at:13}#{tenant_id}#{conversation_id}' } },
});

// Stored beside what they belong to, by user, so that one query reads everything that a search compares.
const vector = {
  tenant_id: z.string(),
  user_id: z.string(),
  model: z.string().describe('the model that made it; vectors of different models are not compared'),
  vector: z
    .custom<Uint8Array>(value => value instanceof Uint8Array)
    .describe('a signed byte for each dimension'),
};

export const turnVector = entity(conversationsKeys, {
  name: 'vector of a turn',
  schema: z.object({
    ...vector,
    conversation_id: z.string(),
    epoch: z.number().int(),
    seq: z.number().int(),
  }),
  key: {
    partition: 'VECTORS#{tenant_id}#{user_id}',
    sort: 'TURN#{conversation_id}#{epoch:10}#{seq:10}',
  },
});

export const factVector = entity(conversationsKeys, {
  name: 'vector of a fact',
  schema: z.object({ ...vector, fact_id: z.string() }),
  key: { partition: 'VECTORS#{tenant_id}#{user_id}', sort: 'FACT#{fact_id}' },
});

export const vectorsOfUser = defineQuery('vectors of a user', { of: [turnVector, factVector] });
export const vectorsOfConversation = defineQuery('vectors of a conversation', {
  of: turnVector,
  consistent: true,
});

export const dueMemoryJobs = defineQuery('conversations to be summarised', { of: memoryJob, index: 'due' });
