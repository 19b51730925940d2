import { boundedRecord, nameSchemas, pageOf } from '@stak/http';
import { z } from 'zod';
import * as limits from '../limits.ts';
import { cleanText, agentName as name, tenantParams, timestamp, variables } from '../schema.ts';
import { approvals, defaultAgent, memoryPolicies } from '../settings.ts';
import { skillName } from '../skills/schema.ts';

// Requests and responses about named agents.

const agentName = name.describe('The name of the agent.');
const otherAgents = z.array(agentName).max(limits.agentTargets);
const model = z.strictObject({
  provider: z.string().min(1).max(100).describe('The provider of the model.'),
  model: z.string().min(1).max(200).describe('The model, by the provider’s own name.'),
});
const language = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, 'A tag such as en or pt-BR')
  .meta({ example: 'en' });

// What an agent is. Every field has a default, so that a definition of an earlier version can be read.
export const agentDefinition = z.strictObject({
  description: cleanText
    .trim()
    .max(limits.agentDescriptionChars)
    .default('')
    .describe('What the agent is for. Other agents read it to decide whom to ask.'),
  prompt: cleanText
    .max(limits.promptChars)
    .default('')
    .describe(
      'Instructions for the model, with variables as `{{name}}`. Empty for the instructions of the tenant.',
    ),
  variables: variables
    .default({})
    .describe('The variables of the prompt, with the values that they have in conversations that set none.'),
  model: model.nullable().default(null).describe('The model that answers; null for that of the tenant.'),
  fallbacks: z
    .array(model)
    .max(limits.agentFallbacks)
    .default([])
    .describe('Models that are asked in this order if the first one does not answer.'),
  skills: z.array(skillName).max(limits.agentSkills).default([]).describe('The skills that it has.'),
  approvals: boundedRecord(skillName, z.enum(approvals), limits.agentSkills)
    .default({})
    .describe('Who has to approve a call, by the name of the skill; otherwise what the tenant has set.'),
  memory: z
    .enum(memoryPolicies)
    .nullable()
    .default(null)
    .describe(
      '`automatic` learns from conversations, `on_request` only if a user asks, `none` neither learns nor reads; null for what the tenant has set.',
    ),
  spend_per_day_usd: z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .describe('What it may spend on models a day, within the limit of the tenant; null without a limit.'),
  spend_per_turn_usd: z
    .number()
    .min(0)
    .nullable()
    .default(null)
    .describe('What one turn may cost, with the agents that it asks; null without a limit.'),
  greeting: cleanText
    .trim()
    .max(limits.greetingChars)
    .default('')
    .describe('The answer to a greeting. Empty for a list of its skills.'),
  languages: z
    .array(language)
    .max(limits.agentLanguages)
    .default([])
    .describe('The languages that it answers in, the usual one first; empty for any.'),
  handoffs: otherAgents
    .default([])
    .describe(`The agents that it may hand a conversation to; \`${defaultAgent}\` is one, too.`),
  asks: otherAgents.default([]).describe('The agents that it may ask, as a skill.'),
  is_open_to_users: z
    .boolean()
    .default(false)
    .describe('Whether users may begin conversations with it, not only the host.'),
});
export type AgentDefinition = z.output<typeof agentDefinition>;

export const newAgentVersion = z.strictObject({
  version: z
    .int()
    .min(1)
    .max(limits.agentVersionMost)
    .optional()
    .describe('Rolls back to this version. Without it, the draft is published as a new one.'),
  note: cleanText.trim().max(limits.agentNoteChars).optional().describe('What is new in it.'),
});

const listed = {
  name: z.string().describe('The name of the agent.'),
  is_settings: z.boolean().describe(`Whether it is \`${defaultAgent}\`: the settings of the tenant.`),
  published_version: z.int().nullable().describe('The version that answers; null if none is published.'),
  published_at: timestamp
    .nullable()
    .describe('When that version began to answer; null if none is published.'),
  last_version: z.int().describe('The number of the newest version; 0 before the first.'),
  has_changes: z.boolean().describe('Whether the draft differs from the version that answers.'),
  created_at: timestamp.nullable().describe('When it was created; null for the settings of the tenant.'),
  updated_at: timestamp.nullable().describe('When it was last changed; null for the settings of the tenant.'),
};
const listedAgent = z.strictObject({
  ...listed,
  description: z.string().describe('What the agent is for.'),
});
export const agentShape = z.strictObject({
  ...listed,
  draft: agentDefinition.describe('The definition that is being edited.'),
  published: agentDefinition.nullable().describe('The definition that answers; null if none is published.'),
  spent_today_usd: z
    .number()
    .nullable()
    .describe('What it has spent on models today, in US dollars; null for the settings of the tenant.'),
});
const versionFields = {
  version: z.int().describe('The number of the version.'),
  is_published: z.boolean().describe('Whether it is the one that answers.'),
  note: z.string().nullable().describe('What is new in it.'),
  created_at: timestamp.describe('When it was first published.'),
};
export const listedVersion = z.strictObject(versionFields);
export const agentVersionShape = z.strictObject({
  ...versionFields,
  definition: agentDefinition.describe('The definition.'),
});

const draftOrNumber = z
  .union([z.literal('draft'), z.coerce.number().int().min(1).max(limits.agentVersionMost)])
  .describe('The number of a version, or `draft`.');
export const differencesQuery = z.strictObject({
  from: draftOrNumber.optional().describe('The earlier one; the version that answers if absent.'),
  to: draftOrNumber.default('draft').describe('The later one.'),
});
export const agentDifferences = z.strictObject({
  from: z
    .union([z.int(), z.literal('draft')])
    .nullable()
    .describe('The earlier one; null before the first.'),
  to: z.union([z.int(), z.literal('draft')]).describe('The later one.'),
  data: z
    .array(
      z.strictObject({
        field: z.string().describe('The field of the definition.'),
        before: z.unknown().describe('Its value in the earlier one; null before the first version.'),
        after: z.unknown().describe('Its value in the later one.'),
      }),
    )
    .describe('The fields that differ.'),
});

export const agentParams = tenantParams.extend({ name: agentName });
export const agentVersionParams = agentParams.extend({
  version: z.coerce.number().int().min(1).max(limits.agentVersionMost).describe('The number of the version.'),
});
export const agentPage = pageOf(listedAgent);
nameSchemas({
  AgentDefinition: agentDefinition,
  AgentModel: model,
  Agent: agentShape,
  ListedAgent: listedAgent,
  AgentVersion: agentVersionShape,
  ListedAgentVersion: listedVersion,
  AgentDifferences: agentDifferences,
  AgentPage: agentPage,
});
