import { boundedRecord, nameSchemas, pageOf } from '@stak/http';
import { z } from 'zod';
import * as limits from './limits.ts';
import { approvalStatuses, finishReasons, ratings } from './main-table.ts';
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
export const timestamp = z.iso.datetime();
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

export const cleanText = z.string().refine(isCleanText, 'No control characters, and no half characters');
const title = cleanText.trim().min(1).max(limits.titleChars).describe('The title of the conversation.');
const content = cleanText
  .min(1)
  .max(limits.contentChars)
  .refine(text => text.trim() !== '', 'Something has to be said')
  .describe('The text of the message.');

export const agentName = z
  .string()
  .max(limits.agentNameChars)
  .regex(/^[a-z][a-z0-9_]*$/, 'A lower case letter, then letters, digits and _');
const variableName = z
  .string()
  .max(limits.variableNameChars)
  .regex(/^[a-z][a-z0-9_]*$/, 'A lower case letter, then letters, digits and _');
export const variables = boundedRecord(
  variableName,
  cleanText.max(limits.variableChars),
  limits.agentVariables,
);
const newAgent = agentName
  .optional()
  .describe(
    'The agent of a new conversation; that of the tenant if absent. One that is there keeps its own. Users may name those that are open to them.',
  );
const conversationFields = {
  conversation_id: conversationId.optional(),
  title: title.optional(),
  user_id: userId.optional().describe('The user of the conversation. For hosts only.'),
};
export const newConversation = z.strictObject({
  ...conversationFields,
  agent: newAgent,
  agent_version: z
    .union([z.int().min(1).max(limits.agentVersionMost), z.literal('draft')])
    .optional()
    .describe(
      'The version that it stays with, or `draft` to try what is not published; otherwise the published one answers. For hosts only.',
    ),
  variables: variables
    .optional()
    .describe('Values of variables of the prompt, instead of those of the agent. For hosts only.'),
});
export const conversationPatch = z.strictObject({ title });
export const newMessage = z.strictObject({
  content,
  user_id: userId.optional().describe('The user of a new conversation. For hosts only.'),
  agent: newAgent,
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
const answeredVersion = z.union([z.int(), z.literal('draft')]).nullable();
export const conversationShape = z.strictObject({
  ...listedFields,
  agent: z.string().describe('The agent that answers; `default` is the settings of the tenant.'),
  agent_version: answeredVersion.describe(
    'The version that it stays with; null if the published one answers.',
  ),
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
  agent: z.string().describe('The agent that answered; `default` is the settings of the tenant.'),
  agent_version: answeredVersion.describe(
    'The version of the agent that answered; null for the settings of the tenant.',
  ),
  handed_from: z
    .string()
    .nullable()
    .describe('The agent that handed the conversation over in this turn, to the one that answered.'),
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
  finish_reason: z.enum(finishReasons).optional().describe('Why the model stopped before its end.'),
  tool_calls: z
    .array(
      z.strictObject({
        tool_call_id: z.string().describe('The id of the call.'),
        name: z.string().describe('The name of the tool.'),
        input: z.unknown().describe('The arguments of the call.'),
      }),
    )
    .optional()
    .describe("Calls of the caller's own tools, which the answer ends with."),
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
export const newImport = z.strictObject({
  ...conversationFields,
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
  Memory: memoryShape,
  MemoryStatus: memoryStatus,
  ChannelCredentials: channelStatus,
  TokenUsage: tokenUsage,
  Feedback: feedback,
  ApprovalPage: approvalPage,
});
