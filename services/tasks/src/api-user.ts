import { empty, endpoint, etagOf, expectedVersion, json, route } from '@stak/http';
import { z } from 'zod';
import { enter, type Services } from './deps.ts';
import { feedNotFound, feedVersion, findFeed, readFeed, replaceFeed, revokeFeed } from './feed.ts';
import * as limits from './limits.ts';
import { ownerOf } from './owner.ts';
import { getUser, showUser, updateUser } from './profile.ts';
import { profile, profilePatch } from './schema.ts';
import { feedAddress } from './wire.ts';

const own = { auth: 'user' as const, tags: ['tasks'] };
const reading = { scope: 'read', endUserScope: 'tasks:read' } as const;
const writing = { scope: 'write', endUserScope: 'tasks:write' } as const;

const me = route({
  ...own,
  method: 'get',
  path: '/v1/tasks/me',
  ...reading,
  operationId: 'tasks.me',
  summary: 'My profile: time zone, and how long completed tasks are kept',
  responses: { 200: json(profile) },
});

const updateMe = route({
  ...own,
  method: 'patch',
  path: '/v1/tasks/me',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.updateMe',
  summary: 'Change my profile',
  description:
    'Reminders move with the time zone, and completed tasks expire by the new number of days, a moment later.',
  request: { body: json(profilePatch) },
  responses: { 200: json(profile) },
  problems: ['tasks.email_taken'],
});

const putFeed = route({
  ...own,
  method: 'put',
  path: '/v1/tasks/feed',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.replaceFeed',
  summary: 'A new secret address for my calendar; the old one stops working',
  responses: { 200: json(feedAddress) },
});

const deleteFeed = route({
  ...own,
  method: 'delete',
  path: '/v1/tasks/feed',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.revokeFeed',
  summary: 'Revoke the address of my calendar',
  responses: { 204: empty() },
  problems: ['tasks.feed_not_found'],
});

const showFeed = route({
  method: 'get',
  path: '/v1/tasks/feeds/{file}',
  auth: 'public',
  tags: ['tasks'],
  operationId: 'tasks.feed',
  summary: 'Tasks with a due date, as a calendar. The address itself is the secret',
  request: { params: z.strictObject({ file: z.string().regex(/^[A-Za-z0-9_-]{32}\.ics$/) }) },
  responses: { 200: { description: 'iCalendar', content: { 'text/calendar': { schema: z.string() } } } },
  problems: ['tasks.feed_not_found'],
  limits: { rate: { name: 'tasks-feed', ...limits.feedRate, by: 'path' } },
});

export const userEndpoints = (services: Services) =>
  [
    endpoint(me, async c => {
      const found = await getUser(services, await enter(services, c.get('principal')));
      c.header('ETag', etagOf(found.version));
      return c.json(showUser(found), 200);
    }),
    endpoint(updateMe, async c => {
      const user_id = await enter(services, c.get('principal'));
      const updated = await updateUser(services, user_id, c.req.valid('json'), expectedVersion(c));
      c.header('ETag', etagOf(updated.version));
      return c.json(showUser(updated), 200);
    }),
    endpoint(putFeed, async c => {
      const user_id = await enter(services, c.get('principal'));
      const { secret, version } = await replaceFeed(services, user_id, expectedVersion(c));
      c.header('ETag', etagOf(version));
      return c.json({ address: `${services.publicUrl}/v1/tasks/feeds/${secret}.ics` }, 200);
    }),
    endpoint(deleteFeed, async c => {
      await revokeFeed(services, await enter(services, c.get('principal')), expectedVersion(c));
      return c.body(null, 204);
    }),
    endpoint(showFeed, async c => {
      const user_id = await findFeed(services.store, c.req.valid('param').file.replace('.ics', ''));
      await enterOwner(services, user_id);
      const version = etagOf(await feedVersion(services, user_id));
      c.header('ETag', version);
      // Calendars ask often, and there is rarely anything new.
      if (c.req.header('if-none-match') === version) return c.body(null, 304) as never;
      c.header('Content-Type', 'text/calendar; charset=utf-8');
      return c.body(await readFeed(services, user_id), 200) as never;
    }),
  ] as const;

// A calendar of a suspended tenant is as good as none.
async function enterOwner(services: Services, user_id: string): Promise<void> {
  const owner = ownerOf(user_id);
  if (owner.kind === 'account') return;
  await enter(services, { ...owner, scope: 'read' }).catch(() => {
    throw feedNotFound();
  });
}
