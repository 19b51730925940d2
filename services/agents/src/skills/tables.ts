import { defineQuery, entity } from '@stak/table';
import { z } from 'zod';
import { conversationsKeys } from '../main-table.ts';

export const customSkill = entity(conversationsKeys, {
  name: 'custom skill',
  description: 'A skill that a tenant serves itself, over HTTP.',
  schema: z.object({
    tenant_id: z.string(),
    name: z.string(),
    description: z.string(),
    triggers: z.array(z.string()),
    parameters: z.string().describe('JSON Schema, as JSON'),
    url: z.string(),
    secret: z.string().describe('sealed; calls are signed with it'),
    created_at: z.string(),
    updated_at: z.string(),
    version: z.number().int(),
  }),
  key: { partition: 'SKILLS#{tenant_id}', sort: 'SKILL#{name}' },
  version: 'version',
});

export const skillsOfTenant = defineQuery('custom skills of a tenant', { of: customSkill, consistent: true });
