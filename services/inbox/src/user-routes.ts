import { events, json, pageOf, pageQuery, route } from '@stak/http';
import { z } from 'zod';
import * as limits from './limits.ts';
import { messageId } from './message-id.ts';
import { uidHint } from './places.ts';
import * as shapes from './schema.ts';

const user = z.strictObject({
  tenant_id: shapes.tenantKey,
  inbox_key: shapes.inboxKey,
  uid: z.union([z.literal('me'), shapes.uid]).describe(`${uidHint}, which means the caller`),
});
const oneMessage = user.extend({ id: messageId });
const mine = '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}';
const tags = ['inbox'];
const common = { auth: 'user', tags } as const;
const reading = { scope: 'read', endUserScope: 'inbox:read' } as const;
const writing = { scope: 'write', endUserScope: 'inbox:write' } as const;
const missing = ['inbox.not_found', 'inbox.user_not_found', 'inbox.message_not_found'] as const;

export const feed = route({
  ...common,
  method: 'get',
  path: `${mine}/messages`,
  ...reading,
  operationId: 'inbox.feed',
  summary: 'Messages to the user and to everyone, newest first',
  request: { params: user, query: pageQuery(limits.pageMessages).extend(shapes.feedFilters) },
  responses: { 200: json(pageOf(shapes.messageShape)) },
  problems: missing,
});

export const readMessage = route({
  ...common,
  method: 'get',
  path: `${mine}/messages/{id}`,
  ...reading,
  operationId: 'inbox.readMessage',
  summary: 'One message',
  request: { params: oneMessage },
  responses: { 200: json(shapes.messageShape) },
  problems: missing,
});

export const counts = route({
  ...common,
  method: 'get',
  path: `${mine}/counts`,
  ...reading,
  operationId: 'inbox.counts',
  summary: 'Exact counts: all, unread, unseen, and by category',
  request: { params: user },
  responses: { 200: json(shapes.countsShape) },
  problems: missing,
});

export const join = route({
  ...common,
  method: 'put',
  path: mine,
  ...writing,
  operationId: 'inbox.join',
  summary: 'Make a user a member of the inbox',
  description:
    'A member is counted as a recipient of what is sent to everyone. A user also joins with the first message to them and the first mark they make; reading alone makes nobody a member.',
  request: { params: user },
  responses: { 200: json(shapes.memberShape) },
  problems: ['inbox.not_found', 'inbox.user_not_found'],
});

export const stream = route({
  ...common,
  method: 'get',
  path: `${mine}/stream`,
  ...reading,
  operationId: 'inbox.stream',
  summary: 'New messages, redactions and counts as they come',
  description:
    'Server-sent events: `message`, `redaction` ({ id }), `counts`, and `reset` where the list has to be read again.',
  request: { params: user },
  responses: { 200: events() },
  problems: missing,
});

const markOne = <const V extends string, const M extends 'put' | 'delete', const N extends string>(
  method: M,
  verb: V,
  name: N,
  summary: string,
) =>
  route({
    ...common,
    method,
    path: `${mine}/messages/{id}/${verb}` as const,
    ...writing,
    operationId: `inbox.${name}` as const,
    summary,
    request: { params: oneMessage },
    responses: { 200: json(shapes.messageShape) },
    problems: missing,
  });

export const markRead = markOne('put', 'read', 'markRead', 'Mark a message as read');
export const markUnread = markOne('delete', 'read', 'markUnread', 'Mark a message as unread');
export const archive = markOne('put', 'archive', 'archive', 'Archive a message');
export const unarchive = markOne('delete', 'archive', 'unarchive', 'Take a message out of the archive');
export const unsnooze = markOne('delete', 'snooze', 'unsnooze', 'Bring a snoozed message back now');

export const snooze = route({
  ...common,
  method: 'put',
  path: `${mine}/messages/{id}/snooze`,
  ...writing,
  operationId: 'inbox.snooze',
  summary: 'Hide a message until a time; then it is back, unread',
  request: { params: oneMessage, body: json(shapes.snoozeBody) },
  responses: { 200: json(shapes.messageShape) },
  problems: [...missing, 'inbox.snooze_invalid', 'inbox.too_many_snoozed'],
});

const markMany = <const V extends string, const N extends string, Body extends z.ZodType>(
  verb: V,
  name: N,
  body: Body,
  summary: string,
  description?: string,
) =>
  route({
    ...common,
    method: 'post',
    path: `${mine}/${verb}` as const,
    ...writing,
    operationId: `inbox.${name}` as const,
    summary,
    description,
    request: { params: user, body: json(body) },
    responses: { 200: json(shapes.markedShape) },
    problems: ['inbox.not_found', 'inbox.user_not_found'],
  });

const spanHint =
  'Up to 100 `ids`; or everything in the inbox: sent `since` a time, up to `as_of`, of one `category`, or all of it. ' +
  'What arrives later stays as it is, however old its id.';

export const readMany = markMany('read', 'readMany', shapes.markBody, 'Mark as read: many, or all', spanHint);
export const seeMany = markMany('seen', 'seeMany', shapes.markBody, 'Mark as seen: many, or all', spanHint);
export const unreadMany = markMany('unread', 'unreadMany', shapes.markIdsBody, 'Mark many as unread');
export const archiveMany = markMany('archive', 'archiveMany', shapes.markIdsBody, 'Archive many');
