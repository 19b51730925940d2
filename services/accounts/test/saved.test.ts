import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { saved } from '../src/tables.ts';
import { type Engine, openEmbedded, type Serving, serve } from './open-accounts.ts';

let engine: Engine;
let fixture: Serving;
beforeEach(async () => {
  engine = await openEmbedded();
  fixture = serve(engine);
});
afterEach(async () => {
  await fixture.settle();
  await engine.close();
});

type Listed = { kind: string; name: string; text: string; saved_by: string; saved_at: string };
const pathOf = (kind: string, name: string) => `/v1/saved/${kind}/${encodeURIComponent(name)}`;
const save = (as: string, kind: string, name: string, text: string) =>
  fixture.call('PUT', pathOf(kind, name), { as, send: { text } });
const list = async (as: string, kind: string) =>
  ((await (await fixture.call('GET', `/v1/saved/${kind}`, { as })).json()) as { data: Listed[] }).data;

describe('saved views and queries', () => {
  it('are stored by kind and name, and replaced under the same name', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const { userId } = (await fixture.users.getByEmail('ann@example.com'))!;
    expect((await save(as, 'events', 'Failed', 'status=failed')).status).toBe(200);
    expect((await save(as, 'sql', 'Failed', 'select 1')).status).toBe(200);
    expect((await save(as, 'sql', 'Failed', 'select 2')).status).toBe(200);
    expect((await save(as, 'messages', 'Failed', '{"title":"Sale"}')).status).toBe(200);
    expect(await list(as, 'messages')).toMatchObject([{ name: 'Failed', text: '{"title":"Sale"}' }]);
    expect(await list(as, 'events')).toMatchObject([{ name: 'Failed', text: 'status=failed' }]);
    expect(await list(as, 'sql')).toEqual([
      { kind: 'sql', name: 'Failed', text: 'select 2', saved_by: userId, saved_at: expect.any(String) },
    ]);
    const remove = () => fixture.call('DELETE', pathOf('sql', 'Failed'), { as });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status, 'an answer may have got lost').toBe(204);
    expect(await list(as, 'sql')).toEqual([]);
    expect(await list(as, 'events')).toHaveLength(1);
  });

  it('accept names in any script, except those that an address or a list cannot show', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const names = ['50% / day #1?', '小さな夢', 'a#sql#b', '100%25', 'é'.repeat(limits.savedNameChars)];
    for (const name of names) expect((await save(as, 'sql', name, 'select 1')).status, name).toBe(200);
    expect((await list(as, 'sql')).map(({ name }) => name).sort()).toEqual([...names].sort());
    for (const name of names)
      expect((await fixture.call('DELETE', pathOf('sql', name), { as })).status, name).toBe(204);
    expect(await list(as, 'sql')).toEqual([]);
    for (const name of [' ', 'two\nlines', 'x'.repeat(limits.savedNameChars + 1)])
      expect((await save(as, 'sql', name, 'select 1')).status, name).toBe(400);
    expect((await save(as, 'other', 'a', 'b')).status).toBe(400);
    expect((await save(as, 'sql', 'a', '')).status).toBe(400);
    expect((await save(as, 'sql', 'a', 'x'.repeat(limits.savedTextChars + 1))).status).toBe(400);
  });

  it('belong to one account, and are read-only for a read-only key', async () => {
    const { access_token: ann } = await fixture.signUp('ann@example.com');
    const { access_token: bob } = await fixture.signUp('bob@example.com');
    await save(ann, 'sql', 'Mine', 'select 1');
    await fixture.call('DELETE', pathOf('sql', 'Mine'), { as: bob });
    expect(await list(bob, 'sql')).toEqual([]);
    const { userId } = (await fixture.users.getByEmail('ann@example.com'))!;
    const { key } = await fixture.apiKeys.create(userId, { name: 'k', permissions: 'read' });
    expect(await list(key, 'sql')).toHaveLength(1);
    expect((await save(key, 'sql', 'More', 'select 1')).status).toBe(403);
    expect((await fixture.call('DELETE', pathOf('sql', 'Mine'), { as: key })).status).toBe(403);
  });

  it('have a limit, at which existing ones can still be replaced', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const { userId: accountId } = (await fixture.users.getByEmail('ann@example.com'))!;
    const item = { accountId, kind: 'sql' as const, text: 'select 1', saved_by: accountId, saved_at: '2026' };
    for (let count = 0; count < limits.savedMost; count++)
      await fixture.store.put(saved, { ...item, name: `Query ${count}` });
    expect(await fixture.codeOf(await save(as, 'sql', 'One more', 'select 2'))).toBe(
      'accounts.too_many_saved',
    );
    expect((await save(as, 'sql', 'Query 7', 'select 2')).status).toBe(200);
    expect((await save(as, 'events', 'A view', 'status=failed')).status).toBe(200);
  });

  it('never exceed the limit, however many are saved at once', async () => {
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const { userId: accountId } = (await fixture.users.getByEmail('ann@example.com'))!;
    const item = { accountId, kind: 'sql' as const, text: 'select 1', saved_by: accountId, saved_at: '2026' };
    for (let count = 0; count < limits.savedMost - 3; count++)
      await fixture.store.put(saved, { ...item, name: `Query ${count}` });
    const names = Array.from({ length: 8 }, (_, i) => `New ${i}`);
    const answers = await Promise.all(names.map(name => save(as, 'sql', name, 'select 2')));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(await list(as, 'sql')).toHaveLength(limits.savedMost);
  });
});
