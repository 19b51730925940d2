import {
  type AccountPrincipal,
  createApi,
  createMemoryRateLimits,
  type Principal,
  unguarded,
} from '@stak/http';
import { createTables, defineTable, entity } from '@stak/table';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type FollowedTable, follow, type ObjectStore, type Texts } from '../src/index.ts';
import { garbageMs, textChangesMs } from '../src/limits.ts';
import { mentions } from './evidence.ts';
import {
  ann,
  type Backend,
  bob,
  capture,
  endUser,
  openBackend,
  openLake,
  readObjects,
  silent,
} from './lake-fixture.ts';

// Notes are texts: of tenant t1, which is Ann's, and of t2, which is Bob's. Whose a note is, only `texts` can say.

const notesTable = defineTable({
  name: 'notes',
  keys: { partition: 'pk', sort: 'sk' },
  stream: 'NEW_AND_OLD_IMAGES',
});
const note = entity(notesTable, {
  name: 'note',
  schema: z.object({
    tenant_id: z.string(),
    note_id: z.string(),
    by: z.string(),
    text: z.string(),
    at: z.int(),
  }),
  key: { partition: 'NOTES#{tenant_id}', sort: 'NOTE#{note_id}' },
});
const followed: FollowedTable = {
  table: notesTable,
  entities: [
    follow(note, {
      view: 'notes',
      text: {
        schema: z.object({ note_id: z.string(), text: z.string() }),
        of: ({ note_id, text }) => (text === '' ? undefined : { note_id, text }),
      },
    }),
  ],
};

const accountOf: Record<string, string> = { t1: 'usr_ann', t2: 'usr_bob' };

async function begin() {
  const backend = await openBackend();
  await createTables(backend.engine, [notesTable], { clock: backend.clock });
  const since = new Map<string, number>();
  const texts: Texts = {
    read: async () => {
      const now = new Map(since);
      return {
        isAnyOn: now.size > 0,
        async whose(_, item) {
          const { tenant_id, by, at } = item as { tenant_id: string; by: string; at: number };
          const sinceMs = now.get(accountOf[tenant_id] ?? '');
          if (sinceMs === undefined) return 'off';
          return at < sinceMs || by === 'gone' ? 'unknown' : { tenant_id, user_id: by };
        },
      };
    },
  };
  const trail: string[] = [];
  const open = (objects: ObjectStore = backend.objects) =>
    openLake(backend, {
      objects,
      tables: [followed],
      insights: [],
      tenantsOf: async accountId => (accountId === 'usr_ann' ? ['t1'] : ['t2']),
      texts,
      textsSetting: {
        read: async accountId => since.get(accountId),
        async set({ accountId }, isOn) {
          trail.push(`${accountId} ${isOn}`);
          if (isOn) since.set(accountId, since.get(accountId) ?? backend.clock.now());
          else since.delete(accountId);
        },
      },
    });
  const put = (tenant_id: string, by: string, note_id: string, text: string) =>
    backend.store.put(note, { tenant_id, note_id, by, text, at: backend.clock.now() });
  return { backend, since, trail, open, put, lake: open() };
}
type Begun = Awaited<ReturnType<typeof begin>>;

async function keep({ backend, lake }: Pick<Begun, 'backend' | 'lake'>): Promise<void> {
  await capture(backend, lake);
  for (let step = 0; step < 200; step++) if (!(await lake.keep('notes'))) return;
  throw new Error('the lake is never kept');
}

const read = async ({ lake }: Pick<Begun, 'lake'>, as: AccountPrincipal) =>
  (await lake.query(as, 'select text from notes order by 1')).rows.flat();

// Past the time when files of changes and replaced files are gone.
async function settle(begun: Begun): Promise<void> {
  for (const ms of [textChangesMs, garbageMs, garbageMs]) {
    await begun.backend.clock.advance(ms + 1);
    await keep(begun);
  }
}

test('a text is in the lake only if its account allows it', async () => {
  const begun = await begin();
  const { backend, since, put, lake } = begun;
  await put('t1', 'u1', 'a', 'sesame-before');
  await keep(begun);
  expect(await read(begun, ann)).toEqual([]);
  expect(await mentions(backend, 'sesame')).toBe(false);
  expect(await readObjects(backend.objects, 'bronze/')).toEqual([]);

  await backend.clock.advance(1000);
  since.set('usr_bob', backend.clock.now());
  await put('t1', 'u1', 'b', 'sesame-during');
  await put('t2', 'u9', 'c', 'open-bob');
  await put('t2', 'gone', 'd', 'sesame-gone');
  await put('t2', 'u9', 'e', '');
  await keep(begun);
  await lake.backfill('notes');
  await keep(begun);
  expect(await mentions(backend, 'sesame')).toBe(false);
  expect(await mentions(backend, 'open-bob')).toBe(true);
});

test('texts are visible only to their own account: not to another one, an end user or an operator', async () => {
  const begun = await begin();
  const { backend, since, put, lake } = begun;
  await put('t1', 'u1', 'old', 'said before');
  await backend.clock.advance(1000);
  since.set('usr_ann', backend.clock.now());
  await put('t1', 'u1', 'a', 'hello');
  await put('t1', 'u2', 'b', 'world');
  await keep(begun);
  expect(await read(begun, ann)).toEqual(['hello', 'world']);
  await lake.backfill('notes'); // finds what was said before as well, which is too old
  await keep(begun);
  await settle(begun);
  expect(await read(begun, ann)).toEqual(['hello', 'world']);
  expect(await mentions(backend, 'said before')).toBe(false);
  expect(await read(begun, bob)).toEqual([]);
  await expect(lake.query(endUser, 'select * from notes')).rejects.toMatchObject({
    code: 'lake.sql_invalid',
  });
  expect(lake.catalog.list(ann, 'silver')).toEqual(['notes']);
  expect(lake.catalog.list('operator', 'silver')).toEqual([]);
  const { metadata } = await lake.catalog.load(ann, 'silver', 'notes');
  expect(metadata.schemas.at(-1)!.fields.map(({ name }) => name)).toEqual(['note_id', 'text']);
});

test('changes of a text apply in every file', async () => {
  const begun = await begin();
  const { backend, since, put } = begun;
  since.set('usr_ann', 0);
  await put('t1', 'u1', 'a', 'first-version');
  await put('t1', 'u1', 'b', 'to-be-removed');
  await put('t1', 'u1', 'c', 'stays');
  await put('t1', 'u1', 'd', 'somebody-said');
  await keep(begun);
  await settle(begun);
  await put('t1', 'u1', 'a', 'second-version');
  await backend.store.delete(note, { tenant_id: 't1', note_id: 'b' });
  await put('t1', 'gone', 'd', 'nobody-knows-who');
  await keep(begun);
  expect(await read(begun, ann)).toEqual(['second-version', 'stays']);
  await settle(begun);
  expect(await read(begun, ann)).toEqual(['second-version', 'stays']);
  for (const text of ['first-version', 'to-be-removed', 'somebody-said', 'nobody-knows'])
    expect(await mentions(backend, text)).toBe(false);
});

test('erasing a user erases their texts, and no others', async () => {
  const begun = await begin();
  const { backend, since, put, lake } = begun;
  since.set('usr_ann', 0);
  await put('t1', 'u1', 'a', 'private-settled');
  await put('t1', 'u2', 'b', 'somebody-else');
  await keep(begun);
  await settle(begun);
  await put('t1', 'u1', 'c', 'private-recent');
  await keep(begun);
  await lake.catalog.load(ann, 'silver', 'notes');
  while ((await lake.eraser.eraseUser('t1', 'u1')) !== 'done');
  expect(await mentions(backend, 'private')).toBe(false);
  expect(await read(begun, ann)).toEqual(['somebody-else']);
});

const principals: Record<string, Principal> = {
  owner: { ...ann, role: 'owner', userId: 'usr_ann' },
  member: { ...ann, role: 'member', scope: 'write', userId: 'usr_m' },
  key: { ...ann, via: 'api_key' },
  endUser,
};

function openApi({ backend, lake }: Pick<Begun, 'backend' | 'lake'>) {
  const { app } = createApi({
    info: { title: 'Lake', version: '1' },
    endpoints: lake.api,
    guards: { ...unguarded, enterTenant: async (_, tenant_id) => ({ tenant_id, account_id: 'usr_ann' }) },
    errors: [lake.errors],
    authenticate: async ({ token }) => principals[token],
    clock: backend.clock,
    log: silent,
    rateLimits: { store: createMemoryRateLimits() },
  });
  return async (as: string, enabled?: boolean) => {
    const answer = await app.request('http://lake.test/v1/lake/texts', {
      method: enabled === undefined ? 'GET' : 'PUT',
      headers: { Authorization: `Bearer ${as}`, 'Content-Type': 'application/json' },
      ...(enabled !== undefined && { body: JSON.stringify({ enabled }) }),
    });
    return { status: answer.status, body: await answer.json() };
  };
}

test('owners and admins switch texts on and off; off erases those of their account', async () => {
  const begun = await begin();
  const { backend, since, trail, put } = begun;
  const call = openApi(begun);
  expect(await call('key')).toEqual({ status: 200, body: { enabled: false, since: null } });
  for (const as of ['member', 'key', 'endUser']) expect((await call(as, true)).status).toBe(403);
  expect(trail).toEqual([]);
  const { body } = await call('owner', true);
  expect(body).toEqual({ enabled: true, since: new Date(backend.clock.now()).toISOString() });
  since.set('usr_bob', 0);
  await put('t1', 'u1', 'a', 'anns-settled');
  await put('t2', 'u9', 'b', 'bobs');
  await keep(begun);
  await settle(begun);
  await put('t1', 'u1', 'c', 'anns-recent');
  await keep(begun);
  await begun.lake.catalog.load(ann, 'silver', 'notes');
  expect(await mentions(backend, 'anns')).toBe(true);

  expect(await call('owner', false)).toEqual({ status: 200, body: { enabled: false, since: null } });
  expect(await mentions(backend, 'anns')).toBe(false);
  await put('t1', 'u1', 'd', 'anns-later');
  await keep(begun);
  expect(await read(begun, ann)).toEqual([]);
  expect(await mentions(backend, 'anns')).toBe(false);
  expect(await read(begun, bob)).toEqual(['bobs']);
  expect(trail).toEqual(['usr_ann true', 'usr_ann false']);
});

test('a page that is being captured while texts are switched off leaves none behind', async () => {
  const begun = await begin();
  const { backend, since, put } = begun;
  since.set('usr_ann', 0);
  await put('t1', 'u1', 'a', 'caught-in-between');
  let switched = 0;
  const objects: ObjectStore = {
    ...backend.objects,
    async put(key: string, body: Uint8Array) {
      await backend.objects.put(key, body);
      if (!key.startsWith('bronze/') || switched++ > 0) return;
      since.delete('usr_ann');
      while ((await begun.lake.eraseTexts([{ tenant_id: 't1' }])) !== 'done');
    },
  };
  await capture(backend as Backend, begun.open(objects));
  expect(switched).toBe(1);
  expect(await mentions(backend, 'caught')).toBe(false);
});
