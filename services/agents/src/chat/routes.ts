import { causeHeaders, empty, json, pageOf, pageQuery, raw, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import * as limits from '../limits.ts';
import * as schema from '../schema.ts';

const user = {
  auth: 'user',
  endUserScope: 'agents:chat',
  tags: ['agents'] as string[],
  tenant: 'path',
  mcp: false,
} as const;
const found = ['agents.conversation_not_found'];
const base = '/v1/tenants/{tenant_id}';
const one = `${base}/conversations/{conversation_id}` as const;
const params = schema.conversationParams;

export const create = route({
  ...user,
  method: 'post',
  path: `${base}/conversations`,
  operationId: 'agents.createConversation',
  reaches: 'nothing',
  audit: false,
  stores: 'body',
  scope: 'write',
  idempotent: true,
  summary: 'Create a conversation',
  description:
    'A host can choose the id and the user. For an end user, the id is generated and the conversation belongs to them.',
  request: { params: schema.tenantParams, body: json(schema.newConversation) },
  responses: { 201: json(schema.conversationShape, 'The new conversation') },
  problems: [
    'agents.conversation_exists',
    'agents.user_not_found',
    'agents.agent_not_found',
    'agents.agent_not_published',
    'agents.agent_refused',
    'agents.version_not_found',
  ],
});
export const list = route({
  ...user,
  ...readsOnly,
  path: `${base}/conversations`,
  operationId: 'agents.listConversations',
  mcp: 'reads',
  scope: 'read',
  summary: 'List conversations, newest first',
  description: 'End users get their own; hosts get those of the tenant, or of one user.',
  request: {
    params: schema.tenantParams,
    query: pageQuery().extend({ user_id: schema.userId.optional() }),
  },
  responses: { 200: json(pageOf(schema.listedConversation)) },
  problems: ['http.cursor_refused', 'agents.user_not_found'],
});
export const get = route({
  ...user,
  ...readsOnly,
  path: one,
  operationId: 'agents.getConversation',
  mcp: 'reads',
  scope: 'read',
  summary: 'Get a conversation and its newest turns',
  description: 'Returns a conversation with its newest turns.',
  request: { params },
  responses: { 200: json(schema.conversationShape) },
  problems: found,
});
export const rename = route({
  ...user,
  method: 'patch',
  path: one,
  operationId: 'agents.renameConversation',
  reaches: 'nothing',
  audit: false,
  stores: 'body',
  scope: 'write',
  conditional: 'optional',
  summary: 'Rename a conversation',
  description: 'Changes the title of a conversation.',
  request: { params, body: json(schema.conversationPatch) },
  responses: { 200: json(schema.conversationShape) },
  problems: found,
});
export const remove = route({
  ...user,
  method: 'delete',
  path: one,
  operationId: 'agents.deleteConversation',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  scope: 'write',
  summary: 'Delete a conversation',
  description: 'Deletes the conversation and all its turns at once. An answer in progress is dropped.',
  request: { params },
  responses: { 204: empty() },
  problems: found,
});
export const clear = route({
  ...user,
  method: 'delete',
  path: `${one}/messages`,
  operationId: 'agents.clearConversation',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  scope: 'write',
  summary: 'Clear a conversation',
  description: 'Deletes all turns at once and keeps the conversation. An answer in progress is dropped.',
  request: { params },
  responses: { 204: empty() },
  problems: found,
});
export const cancel = route({
  ...user,
  method: 'post',
  path: `${one}/cancel`,
  operationId: 'agents.cancelAnswer',
  reaches: 'nothing',
  audit: false,
  stores: 'access', // also in a full account, because an answer costs money
  scope: 'write',
  summary: 'Stop the answer in progress',
  description:
    'Stops the answer to every message that waits in the conversation, also one that waits for an approval. The model is no longer asked, in whichever process that happens, also after a crash. What it has said by then becomes the answer, with the rule `cancelled`; calls that were not made are not made any more.',
  request: { params },
  responses: { 200: json(schema.cancelledShape) },
  problems: found,
});
export const turns = route({
  ...user,
  ...readsOnly,
  path: `${one}/messages`,
  operationId: 'agents.listMessages',
  mcp: 'reads',
  scope: 'read',
  summary: 'List the turns of a conversation',
  description: 'Returns the turns of a conversation, newest first.',
  request: {
    params,
    query: pageQuery().extend({
      order: z.enum(['oldest', 'newest']).default('oldest').describe('Which turns come first.'),
    }),
  },
  responses: { 200: json(pageOf(schema.turnShape)) },
  problems: [...found, 'http.cursor_refused'],
});

const answered = {
  description:
    'The answer. With `Accept: text/event-stream`, a stream of events: delta, skill, skill_result, waiting (for an approval), resumed, restart, reply or error.',
  content: {
    'application/json': { schema: schema.replyShape },
    'text/event-stream': { schema: z.unknown() },
  },
};
const waiting = json(
  schema.waitingShape,
  'Accepted. The answer is still in progress, or waits for an approval',
);

export const send = route({
  ...user,
  method: 'post',
  path: `${one}/messages`,
  operationId: 'agents.sendMessage',
  reaches: 'model',
  audit: false,
  stores: 'body',
  mcp: 'writes',
  scope: 'write',
  summary: 'Send a message and get an answer',
  description:
    'With an Idempotency-Key, the same message is answered once within three days. A repeated request during the answer joins its stream.',
  request: {
    params,
    headers: causeHeaders.extend({
      'idempotency-key': z
        .string()
        .regex(/^[\x21-\x7e]{1,255}$/, '1 to 255 visible ASCII characters')
        .optional()
        .describe('The same key and body get the same answer, for a day.'),
    }),
    body: json(schema.newMessage),
  },
  responses: { 200: answered, 202: waiting },
  problems: [
    ...found,
    'agents.conversation_busy',
    'agents.conversation_cleared',
    'agents.message_dropped',
    'agents.quota_exceeded',
    'agents.spend_exceeded',
    'agents.price_unknown',
    'agents.model_failed',
    'agents.channel_disabled',
    'agents.user_not_found',
    'agents.agent_not_found',
    'agents.agent_not_published',
    'http.idempotency_mismatch',
  ],
  limits: { bodyBytes: limits.messageBodyBytes },
});
export const answer = route({
  ...user,
  ...readsOnly,
  path: `${one}/messages/{message_id}`,
  operationId: 'agents.getReply',
  scope: 'read',
  summary: 'Get the answer to a message, or wait for it',
  description: 'With `Accept: text/event-stream`, a stream of events. `Last-Event-ID` resumes it.',
  request: { params: schema.messageParams },
  responses: { 200: answered, 202: waiting },
  problems: [...found, 'agents.message_not_found', 'agents.message_dropped'],
});
export const rate = route({
  ...user,
  method: 'put',
  path: `${one}/turns/{seq}/feedback`,
  operationId: 'agents.rateAnswer',
  reaches: 'nothing',
  audit: false,
  stores: 'body',
  scope: 'write',
  summary: 'Say whether an answer was good',
  description:
    'Stored with the turn and deleted with it. The user and the host each have their own: with a token of the user it is `feedback`, otherwise `host_feedback`. A later rating replaces the one before; `null` removes it.',
  request: { params: schema.turnParams, body: json(schema.turnFeedback) },
  responses: { 200: json(schema.turnShape) },
  problems: [...found, 'agents.message_not_found'],
});
export const download = route({
  ...user,
  method: 'get',
  path: `${one}/export`,
  operationId: 'agents.exportConversation',
  reaches: 'nothing',
  audit: true,
  stores: 'line',
  scope: 'read',
  summary: 'Export a conversation',
  description: 'One line of JSON for the conversation, one for each turn, and one for the end.',
  request: { params },
  responses: {
    200: { ...raw('Lines of JSON'), content: { 'application/x-ndjson': { schema: z.unknown() } } },
  },
  problems: found,
});
export const upload = route({
  ...user,
  method: 'post',
  path: `${base}/conversation-imports`,
  operationId: 'agents.importConversation',
  reaches: 'nothing',
  audit: true,
  stores: 'body',
  scope: 'write',
  idempotent: true,
  summary: 'Import a conversation',
  description: 'Stores a conversation that took place elsewhere.',
  request: { params: schema.tenantParams, body: json(schema.newImport) },
  responses: { 201: json(schema.conversationShape, 'The new conversation') },
  problems: ['agents.conversation_exists', 'agents.import_refused', 'agents.user_not_found'],
  limits: { bodyBytes: limits.importBodyBytes },
});
