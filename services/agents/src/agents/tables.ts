import { defineQuery, entity } from '@stak/table';
import { z } from 'zod';
import { conversationsKeys } from '../main-table.ts';

export const namedAgent = entity(conversationsKeys, {
  name: 'agent',
  description: 'An agent of a tenant: its draft, and the definition that answers now.',
  schema: z.object({
    tenant_id: z.string(),
    name: z.string(),
    draft: z.string().describe('JSON: the definition that is being edited'),
    published: z.string().optional().describe('JSON: the definition that answers'),
    published_version: z.number().int().optional(),
    published_at: z.string().optional(),
    last_version: z.number().int().describe('the number of the newest version; 0 before the first'),
    created_at: z.string(),
    updated_at: z.string(),
    version: z.number().int(),
  }),
  key: { partition: 'AGENTS#{tenant_id}', sort: 'AGENT#{name}' },
  version: 'version',
});

export const agentVersion = entity(conversationsKeys, {
  name: 'version of an agent',
  description: 'A definition of an agent that was published. It never changes.',
  schema: z.object({
    tenant_id: z.string(),
    name: z.string(),
    number: z.number().int(),
    definition: z.string().describe('JSON'),
    note: z.string().optional().describe('what is new in it'),
    created_at: z.string(),
  }),
  key: { partition: 'AGENTS#{tenant_id}', sort: 'VERSION#{name}#{number:6}' },
});

export const agentsOfTenant = defineQuery('agents of a tenant', { of: namedAgent, consistent: true });
export const versionsOfAgent = defineQuery('versions of an agent', {
  of: agentVersion,
  consistent: true,
  newestFirst: true,
});
export const definitionsOfTenant = defineQuery('agents of a tenant and their versions', {
  of: [namedAgent, agentVersion],
  consistent: true,
});
