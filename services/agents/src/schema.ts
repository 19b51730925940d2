import { boundedRecord, nameSchemas, pageOf } from '@stak/http';
import { parseUrl } from '@stak/kit';
import { z } from 'zod';
import * as limits from './limits.ts';
import { approvalStatuses, finishReasons, ratings } from './main-table.ts';
import { approvals } from './settings.ts';
import { isCleanText } from './state/message-format.ts';

// Requests and responses of the API. Attribute names are the same as in the table.

const idShape = /^[A-Za-z0-9_][A-Za-z0-9._:@|+=~-]*$/;
const idHint = 'Letters, digits and . _ : @ | + = ~ -, beginning with a letter, a digit or _';
const tenantId = z.string().min(1).max(63);
export const conversationId = z.string().max(limits.conversationIdChars).regex(idShape, idHint);
export const userId = z.string().max(128).regex(idShape, idHint);
const timestamp = z.iso.datetime();
const date = z.iso.date();

export const tenantParams = z.strictObject({ tenant_id: tenantId });
export const conversationParams = tenantParams.extend({ conversation_id: conversationId });
export const messageParams = conversationParams.extend({
  message_id: z
    .string()
    .max(100)
    .regex(/^msg_[A-Za-z0-9_-]+$/, 'An id of a message'),
});

const cleanText = z.string().refine(isCleanText, 'No control characters, and no half characters');
const title = cleanText.trim().min(1).max(limits.titleChars);
const content = cleanText
  .min(1)
  .max(limits.contentChars)
  .refine(text => text.trim() !== '', 'Something has to be said');

export const newConversation = z.strictObject({
  conversation_id: conversationId.optional(),
  title: title.optional(),
  user_id: userId.optional(),
});
export const conversationPatch = z.strictObject({ title });
export const newMessage = z.strictObject({
  content,
  user_id: userId.optional().describe('The user of a new conversation. For hosts only.'),
});

const listedFields = {
  conversation_id: z.string(),
  title: z.string().nullable(),
  user_id: z.string().nullable(),
  channel: z.string().nullable(),
  turns: z.int(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
};
export const listedConversation = z.strictObject(listedFields);
const plainMessage = z.strictObject({ role: z.enum(['user', 'assistant', 'system']), content: z.string() });
export const conversationShape = z.strictObject({
  ...listedFields,
  expires_at: timestamp,
  messages: z.array(plainMessage).describe('The newest turns, as the document has them'),
});

const part = z.union([
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({
    type: z.literal('tool-call'),
    toolCallId: z.string(),
    toolName: z.string(),
    input: z.unknown(),
  }),
  z.strictObject({
    type: z.literal('tool-result'),
    toolCallId: z.string(),
    toolName: z.string(),
    output: z.strictObject({ type: z.string(), value: z.unknown() }),
  }),
]);
nameSchemas({ TextPart: part.options[0], ToolCallPart: part.options[1], ToolResultPart: part.options[2] });
const anyMessage = z.union([
  z.strictObject({ role: z.enum(['user', 'system']), content: z.string() }),
  z.strictObject({ role: z.literal('assistant'), content: z.union([z.string(), z.array(part)]) }),
  z.strictObject({ role: z.literal('tool'), content: z.array(part) }),
]);

const tokenUsage = z.strictObject({ input_tokens: z.int(), output_tokens: z.int() });
const figures = {
  routing: z.enum(['rule', 'model', 'import']),
  rule: z.string().nullable(),
  skills: z.array(z.string()),
  model: z.string().nullable(),
  usage: tokenUsage,
  cost_usd: z.number(),
};
export const cancelledShape = z.strictObject({
  cancelled: z.array(z.string()).describe('The ids of the messages whose answer was stopped'),
});
const feedback = z.strictObject({
  rating: z.enum(ratings).describe('Whether the answer was good'),
  comment: z.string().nullable().describe('What was good or bad about it'),
  rated_at: timestamp.describe('When it was said'),
});
export const turnShape = z.strictObject({
  seq: z.int(),
  created_at: timestamp,
  ...figures,
  messages: z.array(anyMessage),
  feedback: feedback.nullable().describe('What the user thought of the answer; null if they did not say'),
  host_feedback: feedback
    .nullable()
    .describe('What the host thought of it: an API key or a member of the account. null for end users'),
});
export const turnParams = conversationParams.extend({
  seq: z.coerce.number().int().min(1).max(limits.turnNumberMost).describe('The number of the turn'),
});
export const turnFeedback = z.strictObject({
  rating: z.enum(ratings).nullable().describe('null takes back what was said'),
  comment: z.string().max(limits.feedbackChars).optional().describe('What was good or bad about it'),
});
export const replyShape = z.strictObject({
  message_id: z.string(),
  conversation_id: z.string(),
  status: z.literal('answered'),
  seq: z.int(),
  created_at: timestamp,
  reply: z.strictObject({ role: z.literal('assistant'), content: z.string() }),
  finish_reason: z.enum(finishReasons).optional().describe('Why the model stopped before its end'),
  tool_calls: z
    .array(z.strictObject({ tool_call_id: z.string(), name: z.string(), input: z.unknown() }))
    .optional()
    .describe("Calls of the caller's own tools, which the answer ends with"),
  merged: z.int().describe('How many messages this answers. Messages sent in quick succession are one turn'),
  ...figures,
});
export const approvalShape = z.strictObject({
  approval_id: z.string(),
  conversation_id: z.string(),
  message_id: z.string().describe('The message whose answer is waiting'),
  user_id: z.string().nullable().describe('The user of the conversation'),
  tool_call_id: z.string(),
  name: z.string().describe('The name of the skill'),
  input: z.unknown().describe('The arguments of the call'),
  approval: z.enum(['user', 'admin']).describe('Who can decide'),
  status: z.enum(approvalStatuses),
  created_at: timestamp,
  expires_at: timestamp,
  decided_at: timestamp.nullable(),
  decided_by: z.string().nullable(),
  reason: z.string().nullable(),
});
export const approvalParams = conversationParams.extend({
  approval_id: z
    .string()
    .max(100)
    .regex(/^apr_[A-Za-z0-9_-]+$/, 'An id of an approval'),
});
export const newDecision = z.strictObject({
  approved: z.boolean(),
  reason: cleanText.trim().max(limits.approvalReasonChars).optional(),
});
export const waitingShape = z.strictObject({
  message_id: z.string(),
  conversation_id: z.string(),
  status: z.literal('waiting'),
  approvals: z
    .array(approvalShape)
    .optional()
    .describe('The calls to approve before the conversation continues'),
});

const importedPart = z.union([
  z.strictObject({ type: z.literal('text'), text: cleanText.max(limits.contentChars) }),
  ...part.options.slice(1),
] as [(typeof part.options)[0], (typeof part.options)[1], (typeof part.options)[2]]);
nameSchemas({ ImportedTextPart: importedPart.options[0] });
const imported = z.union([
  z.strictObject({ role: z.enum(['user', 'system']), content: cleanText.max(limits.contentChars) }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([cleanText.max(limits.contentChars), z.array(importedPart).max(50)]),
  }),
  z.strictObject({ role: z.literal('tool'), content: z.array(importedPart).max(50) }),
]);
export const newImport = newConversation.extend({
  messages: z.array(imported).min(1).max(limits.importMessages),
});

const dayFields = {
  messages: z.int(),
  refunded: z.int(),
  model_turns: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cost_usd: z.number().describe('What was spent on models, in US dollars.'),
  reserved_usd: z
    .number()
    .describe(
      'What is reserved beside it: for answers in progress, or by a process that died before it could say what an answer cost.',
    ),
};
export const usageShape = z.strictObject({
  from: date,
  to: date,
  user_id: z.string().nullable(),
  limit_per_day: z.int().nullable(),
  total: z.strictObject(dayFields),
  days: z.array(z.strictObject({ date, ...dayFields })),
});
export const usageQuery = z.strictObject({
  from: date.optional(),
  to: date.optional(),
  user_id: userId.optional(),
});

export const skillName = z
  .string()
  .max(limits.skillNameChars)
  .regex(/^[a-z][a-z0-9_]*$/, 'A lower case letter, then letters, digits and _');
export const skillShape = z.strictObject({
  name: z.string(),
  description: z.string(),
  is_enabled: z.boolean(),
  is_custom: z.boolean(),
  approval: z.enum(approvals).describe('Who has to approve it before it runs'),
});
export const skillTestResult = z.strictObject({
  ok: z.boolean(),
  output: z.unknown().describe('What the model would get; null if it failed'),
  text: z.string().nullable().describe('What a user would read without a model'),
  reason: z.string().nullable().describe('Why it failed'),
  duration_ms: z.int(),
});
const address = z
  .string()
  .trim()
  .max(2_000, { abort: true })
  .refine(text => parseUrl(text) !== undefined, 'Must be an address that begins with https:// or http://')
  .meta({ format: 'uri' });
export const skillDraft = z.strictObject({
  description: cleanText.trim().min(1).max(limits.skillDescriptionChars),
  triggers: z.array(cleanText.trim().min(2).max(limits.triggerChars)).max(limits.skillTriggers).default([]),
  parameters: z.record(z.string(), z.unknown()).default({ type: 'object', properties: {} }),
  url: address,
});
export const skillTest = z.strictObject({
  arguments: z.record(z.string(), z.unknown()).describe('What the model would say'),
  draft: skillDraft
    .optional()
    .describe('Call this instead of the skill as it is stored; it is checked the same, and not stored'),
});
export const customSkillShape = z.strictObject({
  name: z.string(),
  description: z.string(),
  triggers: z.array(z.string()),
  parameters: z.record(z.string(), z.unknown()),
  url: z.string(),
  created_at: timestamp,
  updated_at: timestamp,
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
  url: address,
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
  name: z.string(),
  url: z.string(),
  header_names: z
    .array(z.string())
    .describe('Names of the headers that are sent. Their values are never returned'),
  tools: z
    .array(
      z.strictObject({
        name: z.string(),
        skill: z.string().describe('Its name in the settings and for models'),
        description: z.string(),
        hash: z.string().describe('Of its description, parameters and hints'),
        is_changed: z
          .boolean()
          .describe('The definition is another one than was accepted: it is disabled until it is accepted'),
        accepted_description: z.string().nullable().describe('Of a changed tool: the description before'),
      }),
    )
    .describe('Tools that can be enabled'),
  skipped: z
    .array(z.strictObject({ name: z.string(), reason: z.string() }))
    .describe('Tools that cannot be used'),
  tools_at: timestamp.describe('When the list was last read'),
  error: z.string().nullable().describe('Why the list could not be read since'),
  created_at: timestamp,
  updated_at: timestamp,
});

const fact = z.strictObject({
  fact_id: z.string(),
  fact: z.string(),
  created_at: z.string(),
  source: z
    .string()
    .describe('`user` asked for it, `edited` through the API, `conversation` learnt by a model'),
  seq: z.int().nullable().describe('The turn of the conversation in which it was said'),
  supersedes: z.string().nullable().describe('The fact that it replaced'),
});
export const memoryShape = z.strictObject({
  session_id: z.string(),
  summary: z.string().nullable(),
  key_facts: z.array(fact),
  created_at: z.string(),
  updated_at: z.string(),
});
export const memoryStatus = z.strictObject({
  is_declined: z.boolean(),
  memory_summary: z.string().nullable(),
  memory_updated_at: z.string().nullable(),
});
export const memoryChange = z.strictObject({
  is_declined: z.boolean().optional(),
  memory_summary: cleanText.max(limits.summaryChars).nullable().optional(),
});
export const memoryPatch = z.strictObject({
  summary: cleanText.max(limits.summaryChars).nullable().optional(),
  key_facts: z
    .array(
      z.strictObject({
        fact_id: z.string().max(100).optional(),
        fact: cleanText.trim().min(1).max(limits.factChars),
      }),
    )
    .max(limits.factsPerItem)
    .optional(),
});

export const channelCredentials = boundedRecord(
  z.string(),
  z.string().max(limits.credentialChars),
  limits.credentials,
);
export const channelStatus = z.strictObject({
  type: z.string(),
  channel_id: z.string(),
  updated_at: timestamp,
});
export const approvalPage = pageOf(approvalShape);
nameSchemas({
  ListedConversation: listedConversation,
  Conversation: conversationShape,
  Turn: turnShape,
  MessageReply: replyShape,
  Approval: approvalShape,
  WaitingReply: waitingShape,
  AgentUsage: usageShape,
  Skill: skillShape,
  CustomSkill: customSkillShape,
  McpServer: mcpServerShape,
  Memory: memoryShape,
  MemoryStatus: memoryStatus,
  ChannelCredentials: channelStatus,
  TokenUsage: tokenUsage,
  Feedback: feedback,
  ApprovalPage: approvalPage,
  SkillDraft: skillDraft,
});
