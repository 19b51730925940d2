import { boundedRecord, nameSchemas, pageOf } from '@stak/http';
import { parseUrl } from '@stak/kit';
import { z } from 'zod';
import * as limits from './limits.ts';
import { approvalStatuses, ratings } from './main-table.ts';
import { approvals } from './settings.ts';
import { isCleanText } from './state/message-format.ts';

// Requests and responses of the API. Attribute names are the same as in the table.

const idShape = /^[A-Za-z0-9_][A-Za-z0-9._:@|+=~-]*$/;
const idHint = 'Letters, digits and . _ : @ | + = ~ -, beginning with a letter, a digit or _';
const tenantId = z.string().min(1).max(63).describe('The id of the tenant.');
export const conversationId = z
  .string()
  .max(limits.conversationIdChars)
  .regex(idShape, idHint)
  .describe('The id of the conversation.');
export const userId = z.string().max(128).regex(idShape, idHint).describe('The id of the user.');
const timestamp = z.iso.datetime();
const date = z.iso.date();

export const tenantParams = z.strictObject({ tenant_id: tenantId });
export const conversationParams = tenantParams.extend({ conversation_id: conversationId });
export const messageParams = conversationParams.extend({
  message_id: z
    .string()
    .max(100)
    .regex(/^msg_[A-Za-z0-9_-]+$/, 'An id of a message')
    .describe('The id of the message.'),
});

const cleanText = z.string().refine(isCleanText, 'No control characters, and no half characters');
const title = cleanText.trim().min(1).max(limits.titleChars).describe('The title of the conversation.');
const content = cleanText
  .min(1)
  .max(limits.contentChars)
  .refine(text => text.trim() !== '', 'Something has to be said')
  .describe('The text of the message.');

export const newConversation = z.strictObject({
  conversation_id: conversationId.optional(),
  title: title.optional(),
  user_id: userId.optional().describe('The user of the conversation. For hosts only.'),
});
export const conversationPatch = z.strictObject({ title });
export const newMessage = z.strictObject({
  content,
  user_id: userId.optional().describe('The user of a new conversation. For hosts only.'),
});

const listedFields = {
  conversation_id: z.string().describe('The id of the conversation.'),
  title: z.string().nullable().describe('The title of the conversation.'),
  user_id: z.string().nullable().describe('The user of the conversation; null if it has none.'),
  channel: z
    .string()
    .nullable()
    .describe('The channel it takes place on, such as `whatsapp`; null if on none.'),
  turns: z.int().describe('How many turns it has.'),
  created_at: z.string().nullable().describe('When it was created, as an ISO 8601 time.'),
  updated_at: z.string().nullable().describe('When it was last changed, as an ISO 8601 time.'),
};
export const listedConversation = z.strictObject(listedFields);
const plainMessage = z.strictObject({
  role: z.enum(['user', 'assistant', 'system']).describe('Who wrote the message.'),
  content: z.string().describe('The text of the message.'),
});
export const conversationShape = z.strictObject({
  ...listedFields,
  expires_at: timestamp.describe('When the conversation is deleted.'),
  messages: z.array(plainMessage).describe('The newest turns, as the document has them'),
});

const part = z.union([
  z.strictObject({
    type: z.literal('text').describe('The type of the part.'),
    text: z.string().describe('The text of the part.'),
  }),
  z.strictObject({
    type: z.literal('tool-call').describe('The type of the part.'),
    toolCallId: z.string().describe('The id of the tool call.'),
    toolName: z.string().describe('The name of the tool.'),
    input: z.unknown().describe('The arguments of the call.'),
  }),
  z.strictObject({
    type: z.literal('tool-result').describe('The type of the part.'),
    toolCallId: z.string().describe('The id of the tool call.'),
    toolName: z.string().describe('The name of the tool.'),
    output: z
      .strictObject({
        type: z.string().describe('The type of the result, such as `json`.'),
        value: z.unknown().describe('The value of the result.'),
      })
      .describe('The result of the call.'),
  }),
]);
nameSchemas({ TextPart: part.options[0], ToolCallPart: part.options[1], ToolResultPart: part.options[2] });
const anyMessage = z.union([
  z.strictObject({
    role: z.enum(['user', 'system']).describe('Who wrote the message.'),
    content: z.string().describe('The text of the message.'),
  }),
  z.strictObject({
    role: z.literal('assistant').describe('Who wrote the message.'),
    content: z.union([z.string(), z.array(part)]).describe('The text, or the parts of the message.'),
  }),
  z.strictObject({
    role: z.literal('tool').describe('Who wrote the message.'),
    content: z.array(part).describe('The results of the tool calls.'),
  }),
]);

const tokenUsage = z.strictObject({
  input_tokens: z.int().describe('Tokens that the model read.'),
  output_tokens: z.int().describe('Tokens that the model wrote.'),
});
const figures = {
  routing: z
    .enum(['rule', 'model', 'import'])
    .describe('What answered: a `rule`, a `model`, or the `import` that brought the turn.'),
  rule: z.string().nullable().describe('The rule that answered, if one did.'),
  skills: z.array(z.string()).describe('The skills that were called.'),
  model: z.string().nullable().describe('The model that answered, if one did.'),
  usage: tokenUsage,
  cost_usd: z.number().describe('What the models cost, in US dollars.'),
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
  seq: z.int().describe('The number of the turn.'),
  created_at: timestamp.describe('When the turn was stored.'),
  ...figures,
  messages: z.array(anyMessage).describe('The messages of the turn, in order.'),
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
  message_id: z.string().describe('The id of the message.'),
  conversation_id: z.string().describe('The id of the conversation.'),
  status: z.literal('answered').describe('Always `answered`.'),
  seq: z.int().describe('The number of the turn.'),
  created_at: timestamp.describe('When the answer was stored.'),
  reply: z
    .strictObject({
      role: z.literal('assistant').describe('Who wrote the message.'),
      content: z.string().describe('The text of the message.'),
    })
    .describe('The answer to the user.'),
  merged: z.int().describe('How many messages this answers. Messages sent in quick succession are one turn'),
  ...figures,
});
export const approvalShape = z.strictObject({
  approval_id: z.string().describe('The id of the approval.'),
  conversation_id: z.string().describe('The id of the conversation.'),
  message_id: z.string().describe('The message whose answer is waiting'),
  user_id: z.string().nullable().describe('The user of the conversation'),
  tool_call_id: z.string().describe('The id of the call, as the model or the server named it.'),
  name: z.string().describe('The name of the skill'),
  input: z.unknown().describe('The arguments of the call'),
  approval: z.enum(['user', 'admin']).describe('Who can decide'),
  status: z.enum(approvalStatuses).describe('Whether it waits, and how it was decided.'),
  created_at: timestamp.describe('When it was asked for.'),
  expires_at: timestamp.describe('When it can no longer be decided.'),
  decided_at: timestamp.nullable().describe('When it was decided; null while it waits.'),
  decided_by: z.string().nullable().describe('Who decided it; null while it waits, and if its time ran out.'),
  reason: z.string().nullable().describe('Why it was decided so.'),
});
export const approvalParams = conversationParams.extend({
  approval_id: z
    .string()
    .max(100)
    .regex(/^apr_[A-Za-z0-9_-]+$/, 'An id of an approval')
    .describe('The id of the approval.'),
});
export const newDecision = z.strictObject({
  approved: z.boolean().describe('Whether the call is to be made.'),
  reason: cleanText.trim().max(limits.approvalReasonChars).optional().describe('Why it was decided so.'),
});
export const waitingShape = z.strictObject({
  message_id: z.string().describe('The id of the message.'),
  conversation_id: z.string().describe('The id of the conversation.'),
  status: z.literal('waiting').describe('Always `waiting`.'),
  approvals: z
    .array(approvalShape)
    .optional()
    .describe('The calls to approve before the conversation continues'),
});

const importedPart = z.union([
  z.strictObject({
    type: z.literal('text').describe('The type of the part.'),
    text: cleanText.max(limits.contentChars).describe('The text of the part.'),
  }),
  ...part.options.slice(1),
] as [(typeof part.options)[0], (typeof part.options)[1], (typeof part.options)[2]]);
nameSchemas({ ImportedTextPart: importedPart.options[0] });
const imported = z.union([
  z.strictObject({
    role: z.enum(['user', 'system']).describe('Who wrote the message.'),
    content: cleanText.max(limits.contentChars).describe('The text of the message.'),
  }),
  z.strictObject({
    role: z.literal('assistant').describe('Who wrote the message.'),
    content: z
      .union([cleanText.max(limits.contentChars), z.array(importedPart).max(50)])
      .describe('The text, or the parts of the message.'),
  }),
  z.strictObject({
    role: z.literal('tool').describe('Who wrote the message.'),
    content: z.array(importedPart).max(50).describe('The results of the tool calls.'),
  }),
]);
export const newImport = newConversation.extend({
  messages: z
    .array(imported)
    .min(1)
    .max(limits.importMessages)
    .describe('The messages of the conversation, in order.'),
});

const dayFields = {
  messages: z.int().describe('How many messages users sent.'),
  refunded: z.int().describe('How many of them do not count against the quota.'),
  model_turns: z.int().describe('How many turns a model answered.'),
  input_tokens: z.int().describe('Tokens that the model read.'),
  output_tokens: z.int().describe('Tokens that the model wrote.'),
  cost_usd: z.number().describe('What was spent on models, in US dollars.'),
  reserved_usd: z
    .number()
    .describe(
      'What is reserved beside it: for answers in progress, or by a process that died before it could say what an answer cost.',
    ),
};
export const usageShape = z.strictObject({
  from: date.describe('The first day, as 2026-11-16.'),
  to: date.describe('The last day, as 2026-11-16.'),
  user_id: z.string().nullable().describe('The user that it is about; null for all users.'),
  limit_per_day: z
    .int()
    .nullable()
    .describe('How many messages a user may send a day; null without a limit.'),
  total: z.strictObject(dayFields).describe('The sums over all days.'),
  days: z
    .array(z.strictObject({ date: date.describe('The day, as 2026-11-16.'), ...dayFields }))
    .describe('One entry per day, oldest first.'),
});
export const usageQuery = z.strictObject({
  from: date.optional().describe('The first day, as 2026-11-16.'),
  to: date.optional().describe('The last day, as 2026-11-16.'),
  user_id: userId.optional().describe('The user that it is about; all users if absent.'),
});

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
  tools_at: timestamp.describe('When the list was last read'),
  error: z.string().nullable().describe('Why the list could not be read since'),
  created_at: timestamp.describe('When it was created.'),
  updated_at: timestamp.describe('When it was last changed.'),
});

const fact = z.strictObject({
  fact_id: z.string().describe('The id of the fact.'),
  fact: z.string().describe('What is remembered.'),
  created_at: z.string().describe('When it was learnt.'),
  source: z
    .string()
    .describe('`user` asked for it, `edited` through the API, `conversation` learnt by a model'),
  seq: z.int().nullable().describe('The turn of the conversation in which it was said'),
  supersedes: z.string().nullable().describe('The fact that it replaced'),
});
export const memoryShape = z.strictObject({
  session_id: z.string().describe('The id of the session.'),
  summary: z.string().nullable().describe('A summary of the conversation.'),
  key_facts: z.array(fact).describe('What is remembered of the user.'),
  created_at: z.string().describe('When it was created, as an ISO 8601 time.'),
  updated_at: z.string().describe('When it was last changed, as an ISO 8601 time.'),
});
export const memoryStatus = z.strictObject({
  is_declined: z.boolean().describe('Whether the user declined to be remembered.'),
  memory_summary: z.string().nullable().describe('A summary of what is remembered of the user.'),
  memory_updated_at: z.string().nullable().describe('When the memory last changed, as an ISO 8601 time.'),
});
export const memoryChange = z.strictObject({
  is_declined: z.boolean().optional().describe('Whether the user declined to be remembered.'),
  memory_summary: cleanText
    .max(limits.summaryChars)
    .nullable()
    .optional()
    .describe('A summary of what is remembered of the user.'),
});
export const memoryPatch = z.strictObject({
  summary: cleanText
    .max(limits.summaryChars)
    .nullable()
    .optional()
    .describe('A summary of the conversation.'),
  key_facts: z
    .array(
      z.strictObject({
        fact_id: z.string().max(100).optional().describe('The id of the fact.'),
        fact: cleanText.trim().min(1).max(limits.factChars).describe('What is remembered.'),
      }),
    )
    .max(limits.factsPerItem)
    .optional()
    .describe('What is remembered of the user.'),
});

export const channelCredentials = boundedRecord(
  z.string(),
  z.string().max(limits.credentialChars),
  limits.credentials,
);
export const channelStatus = z.strictObject({
  type: z.string().describe('The type of channel, such as `whatsapp`.'),
  channel_id: z.string().describe('The id of the channel at its provider.'),
  updated_at: timestamp.describe('When it was last changed.'),
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
