import { defineQuery, entity } from '@stak/table';
import { tenantsKeys } from '@stak/tenants/tables';
import { z } from 'zod';

// In the table of tenants, as the document has it for later.

export const keyFact = z.object({
  fact_id: z.string(),
  fact: z.string(),
  created_at: z.string(),
  source: z.string().describe('whose words it is: `user`, or the skill or program that wrote it'),
});

export const memory = entity(tenantsKeys, {
  name: 'memory of a user',
  description: 'What a user wanted to be remembered, by the conversation it came from.',
  schema: z.object({
    tenant_id: z.string(),
    user_id: z.string(),
    session_id: z.string().describe('the conversation'),
    summary: z.string().optional(),
    key_facts: z.string().describe('JSON: [{"fact_id", "fact", "created_at", "source"}]'),
    created_at: z.string(),
    updated_at: z.string(),
    version: z.number().int(),
  }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'MEMORY#{user_id}#{session_id}' },
  version: 'version',
});

export const memoryChoice = entity(tenantsKeys, {
  name: 'memory choice of a user',
  description: 'Somebody who does not want to be remembered.',
  schema: z.object({ tenant_id: z.string(), user_id: z.string(), declined_at: z.string() }),
  key: { partition: 'TENANT#{tenant_id}', sort: 'NOMEMORY#{user_id}' },
});

export const memoriesOfUser = defineQuery('memory of a user', { of: memory, consistent: true });
export const memoriesOfTenant = defineQuery('memory of a tenant', { of: memory, consistent: true });
export const choicesOfTenant = defineQuery('memory choices of a tenant', {
  of: memoryChoice,
  consistent: true,
});
