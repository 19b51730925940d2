import { empty, json, pageOf, pageQuery, route } from '@stak/http';
import { z } from 'zod';
import * as limits from './limits.ts';
import { messageId } from './message-id.ts';
import { receiptFormats } from './receipts.ts';
import * as shapes from './schema.ts';

const tags = ['inbox'];
const account = { auth: 'account', tags } as const;
const tenant = z.strictObject({ tenant_id: shapes.tenantKey });
const inbox = tenant.extend({ inbox_key: shapes.inboxKey });
const oneMessage = inbox.extend({ id: messageId });
const oneCategory = inbox.extend({ category: shapes.categoryKey });
const base = '/v1/tenants/{tenant_id}';
const one = `${base}/inboxes/{inbox_key}` as const;
const publishLimits = { bodyBytes: limits.publishBytes };
const refusals = [
  'inbox.not_found',
  'inbox.body_invalid',
  'inbox.cta_uri_refused',
  'inbox.expiry_invalid',
  'inbox.schedule_invalid',
  'inbox.message_too_large',
  'inbox.host_system_id_taken',
  'inbox.category_being_deleted',
  'inbox.too_many_categories',
] as const;

export const readSettings = route({
  ...account,
  method: 'get',
  path: `${base}/inbox-settings`,
  scope: 'read',
  operationId: 'inbox.readSettings',
  summary: "Read the settings of a tenant's inboxes",
  request: { params: tenant },
  responses: { 200: json(shapes.settingsShape) },
  problems: ['inbox.settings_not_found'],
});

export const writeSettings = route({
  ...account,
  method: 'put',
  path: `${base}/inbox-settings`,
  scope: 'write',
  operationId: 'inbox.writeSettings',
  conditional: 'optional',
  summary: "Write the settings of a tenant's inboxes",
  request: { params: tenant, body: json(shapes.settingsBody) },
  responses: { 200: json(shapes.settingsShape) },
});

export const listInboxes = route({
  ...account,
  method: 'get',
  path: `${base}/inboxes`,
  scope: 'read',
  operationId: 'inbox.listInboxes',
  summary: 'List inboxes',
  request: { params: tenant },
  responses: { 200: json(pageOf(shapes.inboxShape)) },
});

export const readInbox = route({
  ...account,
  method: 'get',
  path: one,
  scope: 'read',
  operationId: 'inbox.readInbox',
  summary: 'Read the configuration of an inbox',
  request: { params: inbox },
  responses: { 200: json(shapes.inboxShape) },
  problems: ['inbox.not_found'],
});

export const writeInbox = route({
  ...account,
  method: 'put',
  path: one,
  scope: 'write',
  operationId: 'inbox.writeInbox',
  conditional: 'optional',
  summary: 'Make or configure an inbox',
  request: { params: inbox, body: json(shapes.inboxBody) },
  responses: { 200: json(shapes.inboxShape) },
  problems: ['inbox.schema_refused', 'inbox.too_many_inboxes', 'inbox.being_erased'],
});

export const deleteInbox = route({
  ...account,
  method: 'delete',
  path: one,
  scope: 'admin',
  operationId: 'inbox.deleteInbox',
  summary: 'Delete an inbox with everything in it',
  description:
    'It is missing for everyone when this answers. What is in it is removed after that; `readErasure` says how far it is.',
  request: { params: inbox },
  responses: { 202: json(shapes.erasureShape, 'It is being erased') },
  problems: ['inbox.not_found'],
});

export const readErasure = route({
  ...account,
  method: 'get',
  path: `${one}/erasure`,
  scope: 'read',
  operationId: 'inbox.readErasure',
  summary: 'Read how far the deletion of an inbox is',
  request: { params: inbox },
  responses: { 200: json(shapes.erasureShape) },
  problems: ['inbox.erasure_not_found'],
});

export const listCategories = route({
  ...account,
  method: 'get',
  path: `${one}/categories`,
  scope: 'read',
  operationId: 'inbox.listCategories',
  summary: 'List the categories that an inbox has messages in',
  description: '`until` is when the last message of a category has expired, at the latest.',
  request: { params: inbox },
  responses: { 200: json(pageOf(shapes.categoryShape)) },
  problems: ['inbox.not_found'],
});

export const deleteCategory = route({
  ...account,
  method: 'delete',
  path: `${one}/categories/{category}`,
  scope: 'write',
  operationId: 'inbox.deleteCategory',
  summary: 'Delete a category',
  description:
    'With `messages=delete`, together with its messages: nobody sees them when this answers, `readCategoryErasure` says how far their removal is, and until that is done nothing can be published there. Without, only a category that has no messages.',
  request: {
    params: oneCategory,
    query: z.strictObject({ messages: z.enum(['keep', 'delete']).default('keep') }),
  },
  responses: {
    204: empty('It no longer counts'),
    202: json(shapes.categoryErasureShape, 'Its messages are being erased'),
  },
  problems: [
    'inbox.not_found',
    'inbox.category_not_found',
    'inbox.category_in_use',
    'inbox.category_being_deleted',
    'inbox.deletions_busy',
  ],
});

export const readCategoryErasure = route({
  ...account,
  method: 'get',
  path: `${one}/categories/{category}/erasure`,
  scope: 'read',
  operationId: 'inbox.readCategoryErasure',
  summary: 'Read how far the deletion of a category is',
  request: { params: oneCategory },
  responses: { 200: json(shapes.categoryErasureShape) },
  problems: ['inbox.erasure_not_found'],
});

export const publicCounts = route({
  ...account,
  method: 'get',
  path: `${one}/public-counts`,
  scope: 'read',
  operationId: 'inbox.publicCounts',
  summary: 'Count the live messages to everyone, by category, and the members',
  request: { params: inbox },
  responses: { 200: json(shapes.publicCountsShape) },
  problems: ['inbox.not_found'],
});

export const listReceipts = route({
  ...account,
  method: 'get',
  path: `${one}/sends/{id}/receipts`,
  scope: 'read',
  operationId: 'inbox.listReceipts',
  summary: 'List who got a message, and when they read it',
  description:
    'Of a message to everyone, all members who see it. With `read`, a page may be shorter than its limit and still go on.',
  request: { params: oneMessage, query: pageQuery(limits.pageMessages).extend({ read: shapes.readFilter }) },
  responses: { 200: json(pageOf(shapes.receiptShape)) },
  problems: ['inbox.send_not_found'],
});

export const exportReceipts = route({
  ...account,
  method: 'get',
  path: `${one}/sends/{id}/receipts/export`,
  scope: 'read',
  operationId: 'inbox.exportReceipts',
  summary: 'All receipts of a message as a file',
  request: {
    params: oneMessage,
    query: z.strictObject({ format: z.enum(receiptFormats).default('ndjson') }),
  },
  responses: {
    200: {
      description: 'A file',
      content: { 'application/x-ndjson': { schema: z.string() }, 'text/csv': { schema: z.string() } },
    },
  },
  problems: ['inbox.send_not_found'],
  limits: { rate: { name: 'inbox-export', ...limits.exportRate } },
});

export const publish = route({
  ...account,
  method: 'post',
  path: `${one}/messages`,
  scope: 'write',
  operationId: 'inbox.publish',
  idempotent: true,
  summary: 'Publish a message to users',
  description:
    'Up to 10,000 uids. A short list is delivered when this answers; a long one is carried on (`status`).',
  request: { params: inbox, body: json(shapes.publishBody) },
  responses: {
    201: json(shapes.sendShape, 'It is published'),
    200: json(shapes.sendShape, 'It was published before, under the same host_system_id'),
    202: json(shapes.sendShape, 'It is written down, and will be delivered'),
  },
  problems: refusals,
  limits: publishLimits,
});

export const broadcast = route({
  ...account,
  method: 'post',
  path: `${one}/broadcasts`,
  scope: 'write',
  operationId: 'inbox.broadcast',
  idempotent: true,
  summary: 'Publish a message to everyone',
  request: { params: inbox, body: json(shapes.broadcastBody) },
  responses: {
    201: json(shapes.sendShape, 'It is published'),
    200: json(shapes.sendShape, 'It was published before, under the same host_system_id'),
    202: json(shapes.sendShape, 'It is written down for later'),
  },
  problems: [...refusals, 'inbox.too_many_broadcasts'],
  limits: { bodyBytes: 300 * 1024 },
});

export const bulk = route({
  ...account,
  method: 'post',
  path: `${one}/bulk`,
  scope: 'write',
  operationId: 'inbox.bulk',
  idempotent: true,
  summary: 'Publish different messages',
  description:
    'Each message is published or refused by itself; the answers stand in the order of the messages.',
  request: { params: inbox, body: json(shapes.bulkBody) },
  responses: { 200: json(shapes.bulkShape) },
  problems: ['inbox.not_found'],
  limits: publishLimits,
});

export const redact = route({
  ...account,
  method: 'delete',
  path: `${one}/messages/{id}`,
  scope: 'write',
  operationId: 'inbox.redact',
  summary: 'Take a message back from everyone who got it',
  request: { params: oneMessage },
  responses: { 204: empty('Nobody sees it any more') },
  problems: ['inbox.send_not_found', 'inbox.redactions_busy'],
});

export const redactHostId = route({
  ...account,
  method: 'delete',
  path: `${one}/host-messages/{host_system_id}`,
  scope: 'write',
  operationId: 'inbox.redactHostId',
  summary: 'Take a message back, by the id of the host',
  request: { params: inbox.extend({ host_system_id: shapes.hostSystemId }) },
  responses: { 204: empty('Nobody sees it any more') },
  problems: ['inbox.send_not_found', 'inbox.redactions_busy'],
});

export const listSends = route({
  ...account,
  method: 'get',
  path: `${one}/sends`,
  scope: 'read',
  operationId: 'inbox.listSends',
  summary: 'List what was sent, with delivered and read numbers',
  request: { params: inbox, query: pageQuery() },
  responses: { 200: json(pageOf(shapes.sendShape)) },
});

export const readSend = route({
  ...account,
  method: 'get',
  path: `${one}/sends/{id}`,
  scope: 'read',
  operationId: 'inbox.readSend',
  summary: 'Read how far a send got',
  request: { params: oneMessage },
  responses: { 200: json(shapes.sendShape) },
  problems: ['inbox.send_not_found'],
});

export const listScheduled = route({
  ...account,
  method: 'get',
  path: `${one}/scheduled`,
  scope: 'read',
  operationId: 'inbox.listScheduled',
  summary: 'List what is to be sent later',
  request: { params: inbox, query: pageQuery() },
  responses: { 200: json(pageOf(shapes.sendShape)) },
});

export const cancel = route({
  ...account,
  method: 'delete',
  path: `${one}/scheduled/{id}`,
  scope: 'write',
  operationId: 'inbox.cancel',
  summary: 'Cancel what is to be sent later',
  request: { params: oneMessage },
  responses: { 204: empty('It will not be sent') },
  problems: ['inbox.send_not_found', 'inbox.already_sent'],
});
