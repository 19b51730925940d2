import {
  bindCursors,
  type CursorCodec,
  empty,
  json,
  pageOf,
  pageQuery,
  readsOnly,
  route,
  textStream,
} from '@stak/http';
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { inInbox } from '../deps.ts';
import * as limits from '../limits.ts';
import { messageId } from '../message-rules.ts';
import { countMembers, listSends, readSend, type SendPosition, showSend } from '../publish/send-records.ts';
import * as shapes from '../schema.ts';
import { exportReceipts, type Position, readReceipts, receiptFormats } from './receipts.ts';
import { redact, redactHostId } from './redaction.ts';
import { cancelScheduled } from './send-worker.ts';

const tags = ['inbox'];
const common = { auth: 'account', tags, tenant: 'path', mcp: false } as const;
const sendParams = shapes.inboxParams.extend({ id: messageId.describe('The id of the send.') });
const inboxPath = '/v1/tenants/{tenant_id}/inboxes/{inbox_key}';

const list = route({
  ...common,
  ...readsOnly,
  path: `${inboxPath}/sends`,
  scope: 'read',
  operationId: 'inbox.listSends',
  summary: 'List sends, with how many were delivered and read',
  description: 'Returns what was sent to the inbox, newest first.',
  request: { params: shapes.inboxParams, query: pageQuery() },
  responses: { 200: json(shapes.sendPage) },
});

const read = route({
  ...common,
  ...readsOnly,
  path: `${inboxPath}/sends/{id}`,
  scope: 'read',
  operationId: 'inbox.readSend',
  summary: 'Get a send and its progress',
  description: 'Returns a send with the number of recipients, deliveries and reads.',
  request: { params: sendParams },
  responses: { 200: json(shapes.sendShape) },
  problems: ['inbox.send_not_found'],
});

const listReceipts = route({
  ...common,
  ...readsOnly,
  path: `${inboxPath}/sends/{id}/receipts`,
  scope: 'read',
  operationId: 'inbox.listReceipts',
  mcp: 'reads',
  summary: 'List the recipients of a message, and when they read it',
  description:
    'For a message to everyone, lists all members who can see it. With `read`, a page may be shorter than its limit and still have a next one.',
  request: {
    params: sendParams,
    query: pageQuery(limits.pageMessages).extend({
      read: shapes.readFilter.describe('Only receipts of users who have read it, or have not.'),
    }),
  },
  responses: { 200: json(pageOf(shapes.receiptShape)) },
  problems: ['inbox.send_not_found'],
});

const downloadReceipts = route({
  ...common,
  method: 'get',
  path: `${inboxPath}/sends/{id}/receipts/export`,
  scope: 'read',
  operationId: 'inbox.exportReceipts',
  reaches: 'nothing',
  audit: true,
  stores: 'line',
  summary: 'Export all receipts of a message as a file',
  description: 'Streams who has received and read the message, as CSV or JSON lines.',
  request: {
    params: sendParams,
    query: z.strictObject({
      format: z.enum(receiptFormats).default('ndjson').describe('The format of the file.'),
    }),
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

const redactOne = route({
  ...common,
  method: 'delete',
  path: `${inboxPath}/messages/{id}`,
  scope: 'write',
  operationId: 'inbox.redact',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  summary: 'Redact a message for all recipients',
  description: 'Removes the content of a message from every inbox it was sent to.',
  request: { params: sendParams },
  responses: { 204: empty('Redacted for all recipients') },
  problems: ['inbox.send_not_found', 'inbox.redactions_busy'],
});

const redactByHostId = route({
  ...common,
  method: 'delete',
  path: `${inboxPath}/host-messages/{host_system_id}`,
  scope: 'write',
  operationId: 'inbox.redactHostId',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  summary: 'Redact a message by its host_system_id',
  description: 'Removes the content of the message with this `host_system_id` from every inbox.',
  request: {
    params: shapes.inboxParams.extend({
      host_system_id: shapes.hostSystemId.describe('Your own id of the message.'),
    }),
  },
  responses: { 204: empty('Redacted for all recipients') },
  problems: ['inbox.send_not_found', 'inbox.redactions_busy'],
});

const listScheduled = route({
  ...common,
  ...readsOnly,
  path: `${inboxPath}/scheduled`,
  scope: 'read',
  operationId: 'inbox.listScheduled',
  summary: 'List scheduled sends',
  description: 'Returns the messages that are still to be sent.',
  request: { params: shapes.inboxParams, query: pageQuery() },
  responses: { 200: json(shapes.sendPage) },
});

const cancel = route({
  ...common,
  method: 'delete',
  path: `${inboxPath}/scheduled/{id}`,
  scope: 'write',
  operationId: 'inbox.cancel',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  summary: 'Cancel a scheduled send',
  description: 'Cancels a message before it is sent.',
  request: { params: sendParams },
  responses: { 204: empty('It will not be sent') },
  problems: ['inbox.send_not_found', 'inbox.already_sent'],
});

export function createSendRoutes(deps: Deps) {
  const listing = (spec: typeof list | typeof listScheduled, scheduled: boolean) =>
    inInbox(spec, async (c, inbox) => {
      const { limit, cursor } = c.req.valid('query');
      const cursors = bindCursors(c, deps.cursors as CursorCodec<SendPosition>);
      const { items, next } = await listSends(deps, inbox, { limit, after: cursors.open(cursor), scheduled });
      return c.json({ data: items, next_cursor: cursors.seal(next) }, 200);
    });

  return [
    inInbox(listReceipts, async (c, inbox) => {
      const { limit, cursor, read } = c.req.valid('query');
      const cursors = bindCursors(c, deps.cursors as CursorCodec<Position>);
      const found = await readSend(deps, inbox, c.req.valid('param').id);
      const { items, next } = await readReceipts(deps, found, limit, cursors.open(cursor));
      const data = items.filter(item => read === undefined || item.read === read);
      return c.json({ data, next_cursor: cursors.seal(next) }, 200);
    }),
    inInbox(downloadReceipts, async (c, inbox) => {
      const { id } = c.req.valid('param');
      const { format } = c.req.valid('query');
      const found = await readSend(deps, inbox, id);
      const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
      c.header('Content-Type', type);
      c.header('Content-Disposition', `attachment; filename="receipts-${id}.${format}"`);
      return c.body(textStream(exportReceipts(deps, found, format)), 200) as never;
    }),
    inInbox(redactOne, async (c, inbox) => {
      await redact(deps, inbox, c.req.valid('param').id);
      return c.body(null, 204);
    }),
    inInbox(redactByHostId, async (c, inbox) => {
      await redactHostId(deps, inbox, c.req.valid('param').host_system_id);
      return c.body(null, 204);
    }),
    listing(list, false),
    inInbox(read, async (c, inbox) => {
      const found = await readSend(deps, inbox, c.req.valid('param').id);
      return c.json(showSend(found, await countMembers(deps, inbox)), 200);
    }),
    listing(listScheduled, true),
    inInbox(cancel, async (c, inbox) => {
      await cancelScheduled(deps, inbox, c.req.valid('param').id);
      return c.body(null, 204);
    }),
  ] as const;
}
