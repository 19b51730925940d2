import { defineQuery, entity } from '@stak/table';
import { z } from 'zod';
import { conversationsKeys } from '../table.ts';

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
    model: z.string().optional(),
    granted: z.string().optional().describe("what the sender's token may do"),
    input_tokens: z.number().int(),
    output_tokens: z.number().int(),
    cost_micros: z.number().int(),
    created_at: z.string(),
    shown: z.string().optional().describe('JSON: the channel’s message with the buttons, and what it shows'),
  }),
  key: { partition: 'CONV#{tenant_id}#{conversation_id}', sort: 'PAUSED' },
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
