import { boundedRecord, nameSchemas } from '@stak/http';
import { parseUrl } from '@stak/kit';
import { z } from 'zod';
import * as limits from '../limits.ts';
import { cleanText, timestamp } from '../schema.ts';
import { approvals } from '../settings.ts';

// Requests and responses about skills and MCP servers.

export const skillName = z
  .string()
  .max(limits.skillNameChars)
  .regex(/^[a-z][a-z0-9_]*$/, 'A lower case letter, then letters, digits and _');
export const skillShape = z.strictObject({
  name: z.string().describe('The name of the skill.'),
  description: z.string().describe('What the skill does, for models and people.'),
  is_enabled: z.boolean().describe('Whether the tenant has enabled it.'),
  is_custom: z.boolean().describe('Whether the tenant serves the skill itself.'),
  approval: z.enum(approvals).describe('Who has to approve it before it runs'),
});
export const skillTestResult = z.strictObject({
  ok: z.boolean().describe('Whether the skill answered as it should.'),
  output: z.unknown().describe('What the model would get; null if it failed'),
  text: z.string().nullable().describe('What a user would read without a model'),
  reason: z.string().nullable().describe('Why it failed'),
  duration_ms: z.int().describe('How long it took, in milliseconds.'),
});
const address = z
  .string()
  .trim()
  .max(2_000, { abort: true })
  .refine(text => parseUrl(text) !== undefined, 'Must be an address that begins with https:// or http://')
  .meta({ format: 'uri' });
export const skillDraft = z.strictObject({
  description: cleanText
    .trim()
    .min(1)
    .max(limits.skillDescriptionChars)
    .describe('What the skill does, for models and people.'),
  triggers: z
    .array(cleanText.trim().min(2).max(limits.triggerChars))
    .max(limits.skillTriggers)
    .default([])
    .describe('Words that start the skill.'),
  parameters: z
    .record(z.string(), z.unknown())
    .default({ type: 'object', properties: {} })
    .describe('The parameters of the skill, as a JSON Schema.'),
  url: address.describe('Where the skill is called.'),
});
export const skillTest = z.strictObject({
  arguments: z.record(z.string(), z.unknown()).describe('What the model would say'),
  draft: skillDraft
    .optional()
    .describe('Call this instead of the skill as it is stored; it is checked the same, and not stored'),
});
export const customSkillShape = z.strictObject({
  name: z.string().describe('The name of the skill.'),
  description: z.string().describe('What the skill does, for models and people.'),
  triggers: z.array(z.string()).describe('Words that start the skill.'),
  parameters: z.record(z.string(), z.unknown()).describe('The parameters of the skill, as a JSON Schema.'),
  url: z.string().describe('Where the skill is called.'),
  created_at: timestamp.describe('When it was created.'),
  updated_at: timestamp.describe('When it was last changed.'),
  secret: z.string().optional().describe('Signs the calls. Returned once'),
});

export const mcpServerName = z
  .string()
  .max(20)
  .regex(/^[a-z][a-z0-9]*$/, 'A lower case letter, then letters and digits');
const headerValue = z
  .string()
  .min(1)
  .max(limits.credentialChars)
  .regex(/^[\x20-\x7e]*$/, 'Printable ASCII characters');
export const mcpServerDraft = z.strictObject({
  url: address.describe('The address of the MCP server.'),
  headers: boundedRecord(z.string().min(1).max(100), headerValue, limits.mcpHeaders)
    .optional()
    .describe('Sent with every request, such as `authorization`'),
});
export const acceptedTools = z.strictObject({
  tools: z
    .array(
      z.strictObject({
        name: z.string().max(limits.mcpToolNameChars).describe('Its name on the server'),
        hash: z.string().max(100).describe('The `hash` of the definition that you have seen'),
      }),
    )
    .min(1)
    .max(limits.mcpTools)
    .describe('The tools whose new definitions are accepted'),
});
export const mcpServerShape = z.strictObject({
  name: z.string().describe('The name of the server.'),
  url: z.string().describe('The address of the MCP server.'),
  header_names: z
    .array(z.string())
    .describe('Names of the headers that are sent. Their values are never returned'),
  tools: z
    .array(
      z.strictObject({
        name: z.string().describe('The name of the tool on the server.'),
        skill: z.string().describe('Its name in the settings and for models'),
        description: z.string().describe('What the tool does, in the words of the server.'),
        hash: z.string().describe('Of its description, parameters and hints'),
        is_changed: z
          .boolean()
          .describe('The definition is another one than was accepted: it is disabled until it is accepted'),
        accepted_description: z.string().nullable().describe('Of a changed tool: the description before'),
      }),
    )
    .describe('Tools that can be enabled'),
  skipped: z
    .array(
      z.strictObject({
        name: z.string().describe('The name of the tool.'),
        reason: z.string().describe('Why it cannot be used.'),
      }),
    )
    .describe('Tools that cannot be used'),
  protocol_version: z
    .string()
    .nullable()
    .describe('The revision of the protocol that the server spoke when the list was last read'),
  tools_at: timestamp.describe('When the list was last read'),
  error: z.string().nullable().describe('Why the list could not be read since'),
  created_at: timestamp.describe('When it was created.'),
  updated_at: timestamp.describe('When it was last changed.'),
});
nameSchemas({
  Skill: skillShape,
  CustomSkill: customSkillShape,
  McpServer: mcpServerShape,
  SkillDraft: skillDraft,
});
