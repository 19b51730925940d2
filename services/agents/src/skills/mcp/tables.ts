import { defineQuery, entity } from '@stak/table';
import { z } from 'zod';
import { conversationsKeys } from '../../main-table.ts';

export const mcpServer = entity(conversationsKeys, {
  name: 'MCP server',
  description: 'A server whose tools a tenant uses as skills, with its last known list of tools.',
  schema: z.object({
    tenant_id: z.string(),
    name: z.string(),
    url: z.string(),
    headers: z.string().optional().describe('JSON, sealed: sent with every request'),
    header_names: z.array(z.string()),
    tools: z.string().describe('JSON'),
    pins: z
      .string()
      .optional()
      .describe('JSON: the accepted definition of each tool, as a hash, and its skill'),
    skipped: z.string().describe('JSON: tools that cannot be used, and why'),
    revision: z.string().optional().describe('of the protocol, as it was agreed on when the list was read'),
    tools_at: z.string().describe('when the list was last read'),
    error: z.string().optional().describe('why later reads failed'),
    created_at: z.string(),
    updated_at: z.string(),
    version: z.number().int(),
  }),
  key: { partition: 'MCP#{tenant_id}', sort: 'SERVER#{name}' },
  version: 'version',
});

export const mcpServersOfTenant = defineQuery('MCP servers of a tenant', { of: mcpServer, consistent: true });
