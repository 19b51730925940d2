import { defineKeys, defineQuery, entity } from '@stak/table';
import { z } from 'zod';

// The attributes that a list of conversations shows.
const listed = ['title', 'user_id', 'channel', 'last_seq', 'created_at', 'updated_at'] as const;

export const ratings = ['good', 'bad'] as const;
export const finishReasons = ['length', 'content_filter'] as const;

export const conversationsKeys = defineKeys({
  name: 'conversations',
  description: 'Conversations with agents: the documented item, its log, and what is needed to write both.',
  keys: { partition: 'pk', sort: 'sk' },
  indexes: {
    'by-user': { partition: 'user_pk', sort: 'user_sk', project: listed },
    'by-tenant': { partition: 'tenant_pk', sort: 'tenant_sk', project: listed },
    due: { partition: 'due_pk', sort: 'due_sk', project: ['due_at'] },
  },
  ttl: 'ttl',
  stream: 'NEW_AND_OLD_IMAGES',
});

// Tenants' ids contain no `#`, so no other partition of this table can be mistaken for one of these.
export const conversation = entity(conversationsKeys, {
  name: 'conversation',
  description:
    'The documented item: the newest turns as text. A program that knows only the document reads and writes it; one without a digest of its messages was written by such a program.',
  schema: z.object({
    tenant_id: z.string(),
    conversation_id: z.string(),
    messages: z.string().describe('JSON: [{"role", "content"}]'),
    updated_at: z.string(),
    ttl: z.number().int(),
    epoch: z.number().int().optional().describe('of the valid turns in the log'),
    last_seq: z.number().int().optional().describe('the number of the last turn'),
    digest: z.string().optional().describe('of `messages`, as we wrote them'),
    title: z.string().optional(),
    is_named: z
      .boolean()
      .optional()
      .describe('the title was chosen, and is not taken from the first message'),
    user_id: z.string().optional().describe('its owner'),
    channel: z.string().optional(),
    is_temporary: z
      .boolean()
      .optional()
      .describe('of one question, whose caller keeps the conversation: it expires after a day'),
    agent: z.string().optional().describe('the agent that answers; absent for the settings of the tenant'),
    agent_version: z
      .number()
      .int()
      .optional()
      .describe('if it stays with one: 0 is the draft; otherwise the published one answers'),
    created_at: z.string().optional(),
    version: z.number().int(),
  }),
  key: { partition: '{tenant_id}', sort: '{conversation_id}' },
  inKeyOnly: ['tenant_id', 'conversation_id'],
  indexes: {
    'by-user': { partition: '{tenant_id}#{user_id}', sort: '{updated_at}' },
    'by-tenant': { partition: '{tenant_id}', sort: '{updated_at}' },
  },
  version: 'version',
  examples: [
    {
      tenant_id: 'outlocks',
      conversation_id: 'conv-abc-123',
      messages: '[{"role":"user","content":"what\'s the sprint status?"}]',
      updated_at: '2026-02-21T14:30:00.000Z',
      ttl: 1_743_004_200,
      epoch: 1_740_000_000,
      last_seq: 1,
      digest: 'n4bQgYhMfWWaL',
      user_id: 'ann',
      created_at: '2026-02-21T14:30:00.000Z',
    },
  ],
});

export const state = entity(conversationsKeys, {
  name: 'state of a conversation',
  description: 'Who may write the next turn, which messages wait for it, and when a worker must handle it.',
  schema: z.object({
    tenant_id: z.string(),
    conversation_id: z.string(),
    user_id: z.string().optional(),
    title: z.string().optional().describe('if it was chosen: another program writes the item without it'),
    channel: z.string().optional(),
    is_temporary: z.boolean().optional().describe('as in the documented item'),
    agent: z.string().optional().describe('as in the documented item'),
    agent_version: z.number().int().optional().describe('as in the documented item'),
    variables: z.string().optional().describe('JSON: of the prompt, as the host has set them'),
    created_at: z.string().optional(),
    creation_id: z
      .string()
      .optional()
      .describe('of the request that created it: a repeated one finds what it created'),
    epoch: z.number().int().describe('increases when the conversation is cleared; never used twice'),
    last_seq: z.number().int(),
    fence: z.string().optional().describe('the lease: only its holder commits'),
    leased_until: z.number().optional().describe('millisecond'),
    waiting: z.set(z.string()).optional().describe('ids of messages without an answer'),
    waiting_count: z.number().int(),
    attempts: z.number().int().min(0).optional().describe('turns that failed in a row'),
    retry_at: z
      .number()
      .int()
      .optional()
      .describe('millisecond before which a failed turn, or a rejected reply, is not tried again'),
    paused: z.string().optional().describe('the turn that waits for an approval, or has started to act'),
    paused_until: z.number().int().optional().describe('millisecond at which it continues'),
    reply: z.string().optional().describe("JSON: an answer on its way to a channel's API"),
    is_deleted: z.boolean().optional(),
    noted_seq: z.number().int().optional().describe('turns up to this one are summarised, or about to be'),
    quiet_at: z.number().int().optional().describe('millisecond after which the turns since are summarised'),
    forgets: z.string().optional().describe('the user whose memory of the conversation is deleted with it'),
    recalled_by: z.string().optional().describe('the user whose vectors of earlier epochs must be removed'),
    has_stale: z.boolean().optional().describe('turns of earlier epochs must still be removed'),
    due_lane: z.string().optional(),
    due_at: z.number().int().optional().describe('millisecond at which a worker handles it'),
  }),
  key: { partition: 'CONV#{tenant_id}#{conversation_id}', sort: 'STATE' },
  indexes: { due: { partition: 'DUE#{due_lane}', sort: '{due_at:13}#{tenant_id}#{conversation_id}' } },
});

export const counted = ['skills', 'MCP servers', 'agents'] as const;
export const creation = entity(conversationsKeys, {
  name: 'creation',
  description:
    'The last creation of something whose number per tenant is limited. Of two concurrent ones, one must count again.',
  schema: z.object({
    tenant_id: z.string(),
    of: z.enum(counted),
    ttl: z.number().int(),
    version: z.number().int(),
  }),
  key: { partition: 'CREATION#{tenant_id}', sort: '{of}' },
  version: 'version',
});

export const dueShardCount = entity(conversationsKeys, {
  name: 'number of due shards',
  description:
    'The number of partitions of the index of due work, once it exceeds the initial number. It only increases.',
  schema: z.object({ shards: z.number().int() }),
  key: { partition: 'DUE#SHARDS', sort: 'NUMBER' },
});

export const turn = entity(conversationsKeys, {
  name: 'turn',
  description: 'The log, the source of truth: messages and answers, numbered in order.',
  schema: z.object({
    tenant_id: z.string(),
    conversation_id: z.string(),
    epoch: z.number().int(),
    seq: z.number().int(),
    messages: z.string().describe('JSON, with the calls of skills and their results'),
    created_at: z.string(),
    message_ids: z.array(z.string()),
    routing: z.enum(['rule', 'model', 'import']),
    rule: z.string().optional(),
    skills: z.array(z.string()).optional(),
    turn_id: z.string().optional().describe('if it acted: what it did has this id as its cause'),
    cause: z.string().optional().describe('of its message, if that is not stored'),
    agent: z.string().optional().describe('that answered; absent for the settings of the tenant'),
    agent_version: z.number().int().optional().describe('the version that answered; 0 is the draft'),
    handed_from: z.string().optional().describe('the agent that handed the conversation over in this turn'),
    model: z.string().optional(),
    finish_reason: z.enum(finishReasons).optional().describe('why the model stopped before its end'),
    input_tokens: z.number().int().optional(),
    output_tokens: z.number().int().optional(),
    cost_micros: z.number().int().optional().describe('millionths of a dollar'),
    rating: z.enum(ratings).optional().describe('what the user thought of the answer; once also the host'),
    rating_comment: z.string().optional(),
    rated_at: z.string().optional(),
    host_rating: z.enum(ratings).optional().describe('what the host thought of it'),
    host_rating_comment: z.string().optional(),
    host_rated_at: z.string().optional(),
  }),
  key: { partition: 'CONV#{tenant_id}#{conversation_id}', sort: 'TURN#{epoch:10}#{seq:10}' },
  indexes: { 'by-tenant': { partition: 'TURN#{turn_id}', sort: '{created_at}' } },
});

export const message = entity(conversationsKeys, {
  name: 'message',
  description:
    'An incoming message: first with its content until it is answered, then a receipt that makes a repetition harmless.',
  schema: z.object({
    tenant_id: z.string(),
    conversation_id: z.string(),
    message_id: z.string(),
    status: z.enum(['waiting', 'answered', 'dropped']),
    content: z.string().optional().describe('only while it waits'),
    fingerprint: z.string(),
    accepted_at: z.number(),
    user_id: z.string().optional(),
    channel: z.string(),
    reply_to: z.string().optional().describe('JSON: the channel’s address for the answer'),
    granted: z.string().optional().describe("what the sender's token may do"),
    reserved_on: z.string().optional().describe('the day whose quota it counts against'),
    cancelled_at: z.number().int().optional().describe('millisecond at which its answer was stopped'),
    regenerates: z.boolean().optional().describe('its answer replaces that of the last turn'),
    cause: z.string().optional().describe('what it was sent because of'),
    options: z
      .string()
      .optional()
      .describe('JSON, only while it waits: what the caller says about the answer'),
    epoch: z.number().int().optional(),
    seq: z.number().int().optional(),
    reason: z.string().optional(),
    ttl: z.number().int().optional(),
  }),
  key: { partition: 'CONV#{tenant_id}#{conversation_id}', sort: 'MSG#{message_id}' },
});

const figures = {
  messages: z.number().int().optional(),
  counted_by: z.string().optional().describe('of an older version: the write that counted last'),
  refunded: z.number().int().optional(),
  model_turns: z.number().int().optional(),
  input_tokens: z.number().int().optional(),
  output_tokens: z.number().int().optional(),
  spend_micros: z.number().int().optional().describe('spent, and reserved for what is under way'),
  reserved_micros: z.number().int().optional().describe('of that, what is reserved and not spent'),
  ttl: z.number().int().optional(),
};

export const tenantDay = entity(conversationsKeys, {
  name: 'usage of a day',
  schema: z.object({ tenant_id: z.string(), date: z.string(), ...figures }),
  key: { partition: 'USAGE#{tenant_id}', sort: 'DAY#{date}' },
});

export const userDay = entity(conversationsKeys, {
  name: "usage of a user's day",
  schema: z.object({ tenant_id: z.string(), user_id: z.string(), date: z.string(), ...figures }),
  key: { partition: 'USAGE#{tenant_id}', sort: 'USER#{user_id}#{date}' },
});

export const agentDay = entity(conversationsKeys, {
  name: "spending of an agent's day",
  schema: z.object({ tenant_id: z.string(), agent: z.string(), date: z.string(), ...figures }),
  key: { partition: 'USAGE#{tenant_id}', sort: 'AGENT#{agent}#{date}' },
});

export const accountDay = entity(conversationsKeys, {
  name: "spending of an account's day",
  description: "What all tenants of an account have spent on models, for the operator's limits.",
  schema: z.object({
    account_id: z.string(),
    date: z.string(),
    spend_micros: z.number().int().optional().describe('spent, and reserved for what is under way'),
    used_micros: z.number().int().optional().describe('spent'),
    ttl: z.number().int().optional(),
  }),
  key: { partition: 'SPEND#{account_id}', sort: 'DAY#{date}' },
});

export const conversationsOfUser = defineQuery('conversations of a user', {
  of: conversation,
  index: 'by-user',
  newestFirst: true,
});
export const conversationsOfTenant = defineQuery('conversations of a tenant', {
  of: conversation,
  index: 'by-tenant',
  newestFirst: true,
});
export const headsOfTenant = defineQuery('documented items of a tenant', {
  of: conversation,
  consistent: true,
});
export const turnsOfConversation = defineQuery('turns of a conversation', { of: turn, consistent: true });
export const messagesOfConversation = defineQuery('messages of a conversation', {
  of: message,
  consistent: true,
});
export const dueStates = defineQuery('what is due', { of: state, index: 'due' });
export const daysOfTenant = defineQuery('usage of a tenant', { of: tenantDay, consistent: true });
export const daysOfUser = defineQuery('usage of a user', { of: userDay, consistent: true });
export const usageOfTenant = defineQuery('all usage of a tenant', {
  of: [tenantDay, userDay, agentDay],
  consistent: true,
});
export const daysOfAccount = defineQuery('spending of an account', { of: accountDay, consistent: true });

export const pausedTurn = entity(conversationsKeys, {
  name: 'paused turn',
  description: 'The progress of a turn: what the model said, and the calls that wait or have started.',
  schema: z.object({
    tenant_id: z.string(),
    conversation_id: z.string(),
    turn_id: z.string(),
    message_ids: z.array(z.string()).describe('the messages it answers'),
    routing: z.enum(['rule', 'model']),
    messages: z.string().describe('JSON, since the question'),
    calls: z.string().describe('JSON: the calls of skills, each with its result once it has one'),
    skills: z.array(z.string()),
    agent: z.string().optional().describe('that has made the calls; absent for the settings of the tenant'),
    agent_version: z.number().int().optional(),
    model: z.string().optional(),
    granted: z.string().optional().describe("what the sender's token may do"),
    input_tokens: z.number().int(),
    output_tokens: z.number().int(),
    cost_micros: z.number().int(),
    created_at: z.string(),
    shown: z.string().optional().describe('JSON: the channel’s message with the buttons, and what it shows'),
  }),
  key: { partition: 'CONV#{tenant_id}#{conversation_id}', sort: 'PAUSED' },
  indexes: { 'by-tenant': { partition: 'TURN#{turn_id}', sort: '{created_at}' } },
});

export const turnById = defineQuery('turn by id, finished or not', {
  of: [turn, pausedTurn],
  index: 'by-tenant',
});

export const approvalStatuses = ['waiting', 'approved', 'refused', 'expired', 'cancelled'] as const;

export const approval = entity(conversationsKeys, {
  name: 'approval',
  description: 'A call of a skill that needs an approval, then a receipt of the decision.',
  schema: z.object({
    tenant_id: z.string(),
    conversation_id: z.string(),
    approval_id: z.string(),
    turn_id: z.string(),
    message_id: z.string().describe('the first message that the turn answers'),
    epoch: z.number().int(),
    user_id: z.string().optional().describe('the user of the conversation'),
    tool_call_id: z.string(),
    name: z.string().describe('of the skill'),
    input: z.string().describe('JSON: the arguments'),
    approval: z.enum(['user', 'admin']).describe('who decides'),
    status: z.enum(approvalStatuses),
    waiting_since: z.string().optional().describe('only while it waits'),
    created_at: z.string(),
    expires_at: z.string(),
    decided_at: z.string().optional(),
    decided_by: z.string().optional(),
    reason: z.string().optional(),
    ttl: z.number().int(),
  }),
  key: { partition: 'CONV#{tenant_id}#{conversation_id}', sort: 'APPROVAL#{approval_id}' },
  indexes: {
    'by-user': { partition: 'APPROVALS#{tenant_id}#{user_id}', sort: '{waiting_since}' },
    'by-tenant': { partition: 'APPROVALS#{tenant_id}', sort: '{waiting_since}' },
  },
});

export const approvalsOfConversation = defineQuery('approvals of a conversation', {
  of: approval,
  consistent: true,
});
export const approvalsOfUser = defineQuery('waiting approvals of a user', { of: approval, index: 'by-user' });
export const approvalsOfTenant = defineQuery('waiting approvals of a tenant', {
  of: approval,
  index: 'by-tenant',
});
