import { createHash } from 'node:crypto';
import {
  bindCursors,
  type CursorCodec,
  etagOf,
  events,
  json,
  pageOf,
  pageQuery,
  readsOnly,
  route,
  sse,
} from '@stak/http';
import { z } from 'zod';
import { type Deps, inMailbox, secondsNow } from '../deps.ts';
import { inboxErrors, messageNotFound } from '../errors.ts';
import { type MailboxId, uidHint } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { messageId } from '../message-rules.ts';
import * as shapes from '../schema.ts';
import { followMailbox } from './event-stream.ts';
import { join, openMailbox, readCounts } from './mailbox.ts';
import { markAll } from './mark-all.ts';
import { type Mark, type Marked, markMessages } from './mark-messages.ts';
import { openPage, readMessage, tagOf } from './messages.ts';

const user = shapes.inboxParams.extend({
  uid: z.union([z.literal('me'), shapes.uid]).describe(`${uidHint}, which means the caller`),
});
const oneMessage = user.extend({ id: messageId.describe('The id of the message.') });
const mailboxPath = '/v1/tenants/{tenant_id}/inboxes/{inbox_key}/users/{uid}';
const tags = ['inbox'];
const common = { auth: 'user', tags, tenant: 'path-or-server', mcp: false } as const;
const reading = { scope: 'read', endUserScope: 'inbox:read' } as const;
const writing = { scope: 'write', endUserScope: 'inbox:write' } as const;
const missing = ['inbox.not_found', 'inbox.user_not_found', 'inbox.message_not_found'] as const;

const listMessages = route({
  ...common,
  path: `${mailboxPath}/messages`,
  ...reading,
  ...readsOnly,
  operationId: 'inbox.feed',
  mcp: 'reads',
  summary: "List the user's messages, newest first",
  description: 'Includes the messages to everyone.',
  request: { params: user, query: pageQuery(limits.pageMessages).extend(shapes.feedFilters) },
  responses: { 200: json(pageOf(shapes.messageShape)) },
  problems: missing,
});

const getMessage = route({
  ...common,
  path: `${mailboxPath}/messages/{id}`,
  ...reading,
  ...readsOnly,
  operationId: 'inbox.readMessage',
  mcp: 'reads',
  summary: 'Get a message',
  description: 'Returns one message of the user.',
  request: { params: oneMessage },
  responses: { 200: json(shapes.messageShape) },
  problems: missing,
});

const countMessages = route({
  ...common,
  path: `${mailboxPath}/counts`,
  ...reading,
  ...readsOnly,
  operationId: 'inbox.counts',
  mcp: 'reads',
  summary: 'Count all, unread and unseen messages, in total and by category',
  description: 'Returns exact counts of the user’s messages.',
  request: { params: user },
  responses: { 200: json(shapes.countsShape) },
  problems: missing,
});

const joinInbox = route({
  ...common,
  method: 'put',
  path: mailboxPath,
  ...writing,
  operationId: 'inbox.join',
  reaches: 'nothing',
  audit: false,
  stores: 'body',
  summary: 'Make a user a member of the inbox',
  description:
    'Messages to everyone count their members as recipients. Users also join when they get their first message or first mark one. Reading does not make them members.',
  request: { params: user },
  responses: { 200: json(shapes.memberShape) },
  problems: ['inbox.not_found', 'inbox.user_not_found'],
});

const stream = route({
  ...common,
  path: `${mailboxPath}/stream`,
  mcp: { watches: `${mailboxPath}/messages` },
  ...reading,
  ...readsOnly,
  operationId: 'inbox.stream',
  summary: 'Stream new messages, redactions and counts',
  description:
    'Server-sent events: `message`, `redaction` ({ id }), `counts`, and `reset` when the client has to list the messages again.',
  request: { params: user },
  responses: { 200: events() },
  problems: missing,
});

const markOne = <const V extends string, const M extends 'put' | 'delete', const N extends string>(
  method: M,
  verb: V,
  name: N,
  summary: string,
  description: string,
) =>
  route({
    ...common,
    method,
    path: `${mailboxPath}/messages/{id}/${verb}` as const,
    ...writing,
    operationId: `inbox.${name}` as const,
    reaches: 'nothing',
    audit: false,
    stores: 'edit',
    summary,
    description,
    request: { params: oneMessage },
    responses: { 200: json(shapes.messageShape) },
    problems: missing,
  });

const markRead = markOne(
  'put',
  'read',
  'markRead',
  'Mark a message as read',
  'Marks the message as read by the user.',
);
const markUnread = markOne(
  'delete',
  'read',
  'markUnread',
  'Mark a message as unread',
  'Marks the message as unread by the user.',
);
const archive = markOne(
  'put',
  'archive',
  'archive',
  'Archive a message',
  'Moves the message to the user’s archive.',
);
const unarchive = markOne(
  'delete',
  'archive',
  'unarchive',
  'Move a message out of the archive',
  'Moves the message from the user’s archive back to the inbox.',
);
const unsnooze = markOne(
  'delete',
  'snooze',
  'unsnooze',
  'Show a snoozed message now',
  'Ends the snooze of the message.',
);

const snooze = route({
  ...common,
  method: 'put',
  path: `${mailboxPath}/messages/{id}/snooze`,
  ...writing,
  operationId: 'inbox.snooze',
  reaches: 'nothing',
  audit: false,
  stores: 'edit',
  summary: 'Snooze a message',
  description: 'Hides the message until the given time. Then it returns as unread.',
  request: { params: oneMessage, body: json(shapes.snoozeBody) },
  responses: { 200: json(shapes.messageShape) },
  problems: [...missing, 'inbox.snooze_invalid', 'inbox.too_many_snoozed'],
});

const markMany = <const V extends string, const N extends string, Body extends z.ZodType>(
  verb: V,
  name: N,
  body: Body,
  summary: string,
  description: string,
) =>
  route({
    ...common,
    method: 'post',
    path: `${mailboxPath}/${verb}` as const,
    ...writing,
    operationId: `inbox.${name}` as const,
    reaches: 'nothing',
    audit: false,
    stores: 'edit',
    summary,
    description,
    request: { params: user, body: json(body) },
    responses: { 200: json(shapes.markedShape) },
    problems: ['inbox.not_found', 'inbox.user_not_found'],
  });

const rangeHint =
  'Takes up to 100 `ids`, or a range: messages sent `since` a time, up to `as_of`, in one `category`. ' +
  'An empty object marks all messages. Messages that arrive later stay as they are.';

const readMany = markMany('read', 'readMany', shapes.markBody, 'Mark messages as read', rangeHint);
const seeMany = markMany('seen', 'seeMany', shapes.markBody, 'Mark messages as seen', rangeHint);
const unreadMany = markMany(
  'unread',
  'unreadMany',
  shapes.markIdsBody,
  'Mark messages as unread',
  'Marks several messages as unread in one call.',
);
const archiveMany = markMany(
  'archive',
  'archiveMany',
  shapes.markIdsBody,
  'Archive messages',
  'Archives several messages in one call.',
);

const valueTag = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);

const showMarked = ({ changed, missing }: Marked) => ({ changed, not_found: missing });

export function createMailboxRoutes(deps: Deps) {
  return [
    inMailbox(listMessages, async (c, user) => {
      const { limit, cursor, ...filter } = c.req.valid('query');
      const cursors = bindCursors(c, deps.cursors as CursorCodec<{ before: string }>);
      const before = cursors.open(cursor)?.before;
      const page = await openPage(deps, user, filter, { limit, before });
      const next_cursor = cursors.seal(page.before === undefined ? undefined : { before: page.before });
      c.header('ETag', etagOf(page.tag));
      c.header('Content-Type', 'application/json');
      return c.body(`{"data":${page.items},"next_cursor":${JSON.stringify(next_cursor)}}`, 200) as never;
    }),
    inMailbox(getMessage, async (c, user) => {
      const message = await readMessage(deps, user, c.req.valid('param').id);
      c.header('ETag', etagOf(tagOf([message], false)));
      return c.json(message, 200);
    }),
    inMailbox(countMessages, async (c, user) => {
      const counts = await readCounts(deps, user);
      c.header('ETag', etagOf(valueTag(counts)));
      return c.json(counts, 200);
    }),
    inMailbox(joinInbox, async (c, user) => {
      const { uid, joinedat } = await join(deps, user);
      return c.json({ uid, joinedat }, 200);
    }),
    inMailbox(stream, async (c, user) => {
      await openMailbox(deps, user); // an inbox that does not exist is a 404, not a stream that ends
      return sse(c, { subscribe: (afterId, sink) => followMailbox(deps, user, afterId, sink) });
    }),
    ...createMarkEndpoints(deps),
  ] as const;
}

type MarkRoute = typeof markRead | typeof markUnread | typeof archive | typeof unarchive | typeof unsnooze;

function createMarkEndpoints(deps: Deps) {
  const markAndShow = async (user: MailboxId, id: string, mark: Mark) => {
    const { missing } = await markMessages(deps, user, [id], mark);
    if (missing.length > 0) throw messageNotFound();
    return readMessage(deps, user, id);
  };
  const marking = (spec: MarkRoute, kind: Exclude<Mark['kind'], 'snooze'>) =>
    inMailbox(spec, async (c, user) =>
      c.json(await markAndShow(user, c.req.valid('param').id, { kind }), 200),
    );

  const markRange = async (user: MailboxId, as: 'read' | 'seen', body: z.output<typeof shapes.markBody>) =>
    'ids' in body
      ? showMarked(await markMessages(deps, user, body.ids, { kind: as }))
      : showMarked({ ...(await markAll(deps, user, { ...body, as })), missing: [] });

  return [
    marking(markRead, 'read'),
    marking(markUnread, 'unread'),
    marking(archive, 'archive'),
    marking(unarchive, 'unarchive'),
    marking(unsnooze, 'unsnooze'),
    inMailbox(snooze, async (c, user) => {
      const { until } = c.req.valid('json');
      if (until <= secondsNow(deps))
        throw inboxErrors.create('inbox.snooze_invalid', '`until` must be in the future.');
      return c.json(await markAndShow(user, c.req.valid('param').id, { kind: 'snooze', until }), 200);
    }),
    inMailbox(readMany, async (c, user) => c.json(await markRange(user, 'read', c.req.valid('json')), 200)),
    inMailbox(seeMany, async (c, user) => c.json(await markRange(user, 'seen', c.req.valid('json')), 200)),
    inMailbox(unreadMany, async (c, user) =>
      c.json(showMarked(await markMessages(deps, user, c.req.valid('json').ids, { kind: 'unread' })), 200),
    ),
    inMailbox(archiveMany, async (c, user) =>
      c.json(showMarked(await markMessages(deps, user, c.req.valid('json').ids, { kind: 'archive' })), 200),
    ),
  ] as const;
}
