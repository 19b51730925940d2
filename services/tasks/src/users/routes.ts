import { empty, endpoint, etagOf, expectedVersion, json, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { type Deps, forCaller } from '../deps.ts';
import * as limits from '../limits.ts';
import { ownerOf } from '../owner.ts';
import { feedAddress, profile, profilePatch } from '../schema.ts';
import { feedNotFound, feedVersion, findFeed, readFeed, replaceFeed, revokeFeed } from './calendar-feed.ts';
import { getUser, showUser, updateUser } from './profile.ts';

const own = { auth: 'user' as const, tags: ['tasks'], tenant: 'caller' as const, mcp: false as const };
const reading = { scope: 'read', endUserScope: 'tasks:read' } as const;
const writing = { scope: 'write', endUserScope: 'tasks:write' } as const;

const me = route({
  ...own,
  path: '/v1/tasks/me',
  ...reading,
  ...readsOnly,
  operationId: 'tasks.me',
  summary: "Get the caller's profile",
  description: 'Holds the time zone, and how many days completed tasks are kept.',
  responses: { 200: json(profile) },
});

const updateMe = route({
  ...own,
  method: 'patch',
  path: '/v1/tasks/me',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.updateMe',
  reaches: 'nothing',
  audit: false,
  stores: 'body',
  summary: "Update the caller's profile",
  description:
    'A new time zone moves the reminders, and a new number of days the expiry of completed tasks, a moment later.',
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
  reaches: 'nothing',
  audit: true,
  stores: 'edit',
  summary: 'Create a new secret address for the calendar',
  description: 'The previous address stops working.',
  responses: { 200: json(feedAddress) },
});

const deleteFeed = route({
  ...own,
  method: 'delete',
  path: '/v1/tasks/feed',
  ...writing,
  conditional: 'optional',
  operationId: 'tasks.revokeFeed',
  reaches: 'nothing',
  audit: true,
  stores: 'deletes',
  summary: 'Revoke the address of the calendar',
  description: 'Makes the address of the calendar feed useless.',
  responses: { 204: empty() },
  problems: ['tasks.feed_not_found'],
});

const showFeed = route({
  ...readsOnly,
  path: '/v1/tasks/feeds/{file}',
  auth: 'public',
  tags: ['tasks'],
  operationId: 'tasks.feed',
  tenant: 'handler',
  mcp: false,
  summary: 'Get the tasks with a due date as a calendar',
  description: 'The address itself is the secret.',
  request: {
    params: z.strictObject({
      file: z
        .string()
        .regex(/^[A-Za-z0-9_-]{32}\.ics$/)
        .describe('The name of the file, which holds the secret of the feed.'),
    }),
  },
  responses: { 200: { description: 'iCalendar', content: { 'text/calendar': { schema: z.string() } } } },
  problems: ['tasks.feed_not_found'],
  limits: { rate: { name: 'tasks-feed', ...limits.feedRate, by: 'path' } },
});

export function createUserRoutes(deps: Deps) {
  return [
    forCaller(me, async (c, user_id) => {
      const found = await getUser(deps, user_id);
      c.header('ETag', etagOf(found.version));
      return c.json(showUser(found), 200);
    }),
    forCaller(updateMe, async (c, user_id) => {
      const updated = await updateUser(deps, user_id, c.req.valid('json'), expectedVersion(c));
      c.header('ETag', etagOf(updated.version));
      return c.json(showUser(updated), 200);
    }),
    forCaller(putFeed, async (c, user_id) => {
      const caller = c.get('principal');
      const madeBy = caller.kind === 'account' ? caller.userId : undefined;
      const { secret, version } = await replaceFeed(deps, user_id, madeBy, expectedVersion(c));
      c.header('ETag', etagOf(version));
      return c.json({ address: `${deps.publicUrl}/v1/tasks/feeds/${secret}.ics` }, 200);
    }),
    forCaller(deleteFeed, async (c, user_id) => {
      await revokeFeed(deps, user_id, expectedVersion(c));
      return c.body(null, 204);
    }),
    endpoint(showFeed, async c => {
      const found = await findFeed(deps.store, c.req.valid('param').file.replace('.ics', ''));
      const { user_id } = found;
      await checkOwner(deps, found);
      const version = etagOf(await feedVersion(deps, user_id));
      c.header('ETag', version);
      // Calendar programs poll, and there is rarely anything new.
      if (c.req.header('if-none-match') === version) return c.body(null, 304) as never;
      c.header('Content-Type', 'text/calendar; charset=utf-8');
      return c.body(await readFeed(deps, user_id), 200) as never;
    }),
  ] as const;
}

// The calendar of a closed account or a suspended tenant is not found, nor one whose address is with a person who has left
// the account, or is older than a revocation of all the tenant's tokens.
async function checkOwner(
  { isTenantActive, isMember, lastRevokedAt }: Deps,
  { user_id, made_by, created_at }: { user_id: string; made_by?: string | undefined; created_at: number },
): Promise<void> {
  const owner = ownerOf(user_id);
  if (owner.kind === 'account') {
    if ((await isMember?.(owner.accountId, made_by)) === false) throw feedNotFound();
    return;
  }
  if (!(await isTenantActive(owner.tenantId))) throw feedNotFound();
  const revokedAt = (await lastRevokedAt?.(owner.tenantId)) ?? -1;
  if (created_at <= revokedAt) throw feedNotFound();
}
