import { createHash } from 'node:crypto';
import { bindCursors, type CursorCodec, endpoint, etagOf, type PrincipalOf, sse } from '@stak/http';
import { readCounts } from './counts.ts';
import { type Service, secondsNow } from './deps.ts';
import { inboxErrors, noMessage } from './errors.ts';
import { readMessage } from './feed.ts';
import { join, openMailbox } from './mailbox.ts';
import { markAll } from './mark-all.ts';
import { type Mark, type Marked, markMessages } from './marks.ts';
import { openPage, tagOf } from './pages.ts';
import { isUid, type UserPlace } from './places.ts';
import { follow } from './realtime.ts';
import type { ShownMessage } from './schema.ts';
import * as routes from './user-routes.ts';

type Params = { tenant_id: string; inbox_key: string; uid: string };
type Caller = PrincipalOf<'user'>;

// An end user is one user of one tenant, and `me`. A host names whom it means.
async function enterUser({ enterTenant }: Service, caller: Caller, params: Params): Promise<UserPlace> {
  const { tenant_id, inbox_key, uid } = params;
  await enterTenant(caller, tenant_id);
  const self = caller.kind === 'endUser' ? caller.userId : undefined;
  const meant = uid === 'me' ? self : uid;
  if (meant === undefined || !isUid(meant) || (self !== undefined && meant !== self))
    throw inboxErrors.create('inbox.user_not_found', 'There is no such user.');
  return { tenant_key: tenant_id, inbox_key, uid: meant };
}

const valueTag = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32);

const showMarked = ({ changed, missing }: Marked) => ({ changed, not_found: missing });

// The user's side: the feed, counts, marks, the event stream.
export function userApi(service: Service) {
  const cursors = service.cursors as CursorCodec<{ before: string }>;

  const markOne = async (user: UserPlace, id: string, mark: Mark): Promise<ShownMessage> => {
    const { missing } = await markMessages(service, user, [id], mark);
    if (missing.length > 0) throw noMessage();
    return readMessage(service, user, id);
  };

  const markMany = async (
    user: UserPlace,
    as: 'read' | 'seen',
    body: { ids: string[] } | { since?: number; as_of?: number; category?: string },
  ) => {
    if ('ids' in body) return showMarked(await markMessages(service, user, body.ids, { kind: as }));
    return showMarked({ ...(await markAll(service, user, { ...body, as })), missing: [] });
  };

  return [
    endpoint(routes.feed, async c => {
      const user = await enterUser(service, c.get('principal'), c.req.valid('param'));
      const { limit, cursor, ...filter } = c.req.valid('query');
      const bound = bindCursors(c, cursors);
      const before = bound.open(cursor)?.before;
      const page = await openPage(service, user, filter, { limit, before });
      const next_cursor = bound.seal(page.before === undefined ? undefined : { before: page.before });
      c.header('ETag', etagOf(page.tag));
      c.header('Content-Type', 'application/json');
      return c.body(`{"data":${page.items},"next_cursor":${JSON.stringify(next_cursor)}}`, 200) as never;
    }),
    endpoint(routes.readMessage, async c => {
      const { id, ...params } = c.req.valid('param');
      const user = await enterUser(service, c.get('principal'), params);
      const message = await readMessage(service, user, id);
      c.header('ETag', etagOf(tagOf([message], false)));
      return c.json(message, 200);
    }),
    endpoint(routes.counts, async c => {
      const user = await enterUser(service, c.get('principal'), c.req.valid('param'));
      const counts = await readCounts(service, user);
      c.header('ETag', etagOf(valueTag(counts)));
      return c.json(counts, 200);
    }),
    endpoint(routes.join, async c => {
      const user = await enterUser(service, c.get('principal'), c.req.valid('param'));
      const { uid, joinedat } = await join(service, user);
      return c.json({ uid, joinedat }, 200);
    }),
    endpoint(routes.stream, async c => {
      const enter = () => enterUser(service, c.get('principal'), c.req.valid('param'));
      const user = await enter();
      await openMailbox(service, user); // an inbox that is missing is a problem, not a stream that ends
      return sse(c, { enter, subscribe: (afterId, sink) => follow(service, user, afterId, sink) });
    }),
    endpoint(routes.markRead, async c => {
      const { id, ...params } = c.req.valid('param');
      const user = await enterUser(service, c.get('principal'), params);
      return c.json(await markOne(user, id, { kind: 'read' }), 200);
    }),
    endpoint(routes.markUnread, async c => {
      const { id, ...params } = c.req.valid('param');
      const user = await enterUser(service, c.get('principal'), params);
      return c.json(await markOne(user, id, { kind: 'unread' }), 200);
    }),
    endpoint(routes.archive, async c => {
      const { id, ...params } = c.req.valid('param');
      const user = await enterUser(service, c.get('principal'), params);
      return c.json(await markOne(user, id, { kind: 'archive' }), 200);
    }),
    endpoint(routes.unarchive, async c => {
      const { id, ...params } = c.req.valid('param');
      const user = await enterUser(service, c.get('principal'), params);
      return c.json(await markOne(user, id, { kind: 'unarchive' }), 200);
    }),
    endpoint(routes.unsnooze, async c => {
      const { id, ...params } = c.req.valid('param');
      const user = await enterUser(service, c.get('principal'), params);
      return c.json(await markOne(user, id, { kind: 'unsnooze' }), 200);
    }),
    endpoint(routes.snooze, async c => {
      const { id, ...params } = c.req.valid('param');
      const user = await enterUser(service, c.get('principal'), params);
      const { until } = c.req.valid('json');
      if (until <= secondsNow(service))
        throw inboxErrors.create('inbox.snooze_invalid', 'The time is not in the future.');
      return c.json(await markOne(user, id, { kind: 'snooze', until }), 200);
    }),
    endpoint(routes.readMany, async c => {
      const user = await enterUser(service, c.get('principal'), c.req.valid('param'));
      return c.json(await markMany(user, 'read', c.req.valid('json')), 200);
    }),
    endpoint(routes.seeMany, async c => {
      const user = await enterUser(service, c.get('principal'), c.req.valid('param'));
      return c.json(await markMany(user, 'seen', c.req.valid('json')), 200);
    }),
    endpoint(routes.unreadMany, async c => {
      const user = await enterUser(service, c.get('principal'), c.req.valid('param'));
      const marked = await markMessages(service, user, c.req.valid('json').ids, { kind: 'unread' });
      return c.json(showMarked(marked), 200);
    }),
    endpoint(routes.archiveMany, async c => {
      const user = await enterUser(service, c.get('principal'), c.req.valid('param'));
      const marked = await markMessages(service, user, c.req.valid('json').ids, { kind: 'archive' });
      return c.json(showMarked(marked), 200);
    }),
  ] as const;
}
