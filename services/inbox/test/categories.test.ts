import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as limits from '../src/limits.ts';
import { inboxCategories } from '../src/tables.ts';
import { createTestServer, fill, hello, main, many, storedOf, type TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await createTestServer();
  for (const inbox of ['main', 'news']) await server.ask('PUT', inbox, { send: main });
});
afterEach(() => server.close());

const stored = () => storedOf(server);
const runDue = () => server.inbox.operations.runDue();

describe('categories', () => {
  const broadcast = (category: string, ttl: string) =>
    server.ask('POST', 'main/broadcasts', { send: { ...hello, taxonomy: { category }, ttl } });
  const fillUp = async (ttl: string) => {
    for (let i = 0; i < limits.categories; i++) expect((await broadcast(`c${i}`, ttl)).status).toBe(201);
  };
  const listed = async () =>
    ((await server.ask('GET', 'main/categories')).body.data as unknown as { category: string }[]).map(
      one => one.category,
    );

  it('count while they have messages', async () => {
    await fillUp('6s');
    expect((await broadcast('one-more', '1h')).body.code).toBe('inbox.too_many_categories');
    await server.clock.advance(7000);
    expect((await broadcast('one-more', '1h')).status).toBe(201);
    expect(await listed()).toEqual(['one-more']);
  });

  it('stop counting if they were written without a time and their messages are gone', async () => {
    await fillUp('6s');
    await broadcast('c0', '1h');
    const inboxId = { tenant_key: 'acme', inbox_key: 'main' };
    const { until: _, version, kind: __, ...item } = (await server.store.get(inboxCategories, inboxId))!;
    await server.store.put(inboxCategories, item, { ifVersion: version });
    expect((await broadcast('one-more', '1h')).body.code).toBe('inbox.too_many_categories');
    await server.clock.advance(7000);
    expect((await broadcast('one-more', '1h')).status).toBe(201);
    expect(await listed()).toEqual(['c0', 'one-more']);
  });

  it('can be deleted if they are empty', async () => {
    await fillUp('1h');
    expect((await server.ask('DELETE', 'main/categories/none')).body.code).toBe('inbox.category_not_found');
    expect((await server.ask('DELETE', 'main/categories/c1')).body.code).toBe('inbox.category_in_use');
    const { data } = (await server.ask('GET', 'main/sends?limit=50')).body;
    const { id } = data.find(one => one.taxonomy?.category === 'c1')!;
    await server.ask('DELETE', `main/messages/${id}`);
    expect((await server.ask('DELETE', 'main/categories/c1', { as: 'reader' })).status).toBe(403);
    expect((await server.ask('DELETE', 'main/categories/c1')).status).toBe(204);
    expect(await listed()).not.toContain('c1');
    expect((await broadcast('one-more', '1h')).status).toBe(201);
  });

  it('are written once for many long-lived messages', async () => {
    server.ledger.clear();
    for (let i = 0; i < 20; i++) {
      await broadcast('news', '30d');
      await server.clock.advance(60_000);
    }
    const writes = server.ledger.entries().find(one => one.pattern === 'put inbox categories');
    expect(writes?.calls).toBe(1);
  });
});

describe('deleting a category with its messages', () => {
  const doomed = 'main/categories/offer?messages=delete';
  const progress = async () =>
    (await server.ask('GET', 'main/categories/offer/erasure')).body as unknown as {
      status: string;
      erased: number;
    };
  const countsOf = async (uid: string) =>
    (await server.ask('GET', `main/users/${uid}/counts`)).body as unknown as {
      total: number;
      categories: Record<string, { total: number }>;
    };
  const untilErased = async () => {
    for (let i = 0; i < 6 && (await progress()).status !== 'erased'; i++) {
      await runDue();
      await server.clock.advance(limits.quietMs + limits.leaseMs);
    }
    expect((await progress()).status).toBe('erased');
  };
  // Two messages of another category, one to some and one to everyone, stay.
  const keep = async () => {
    const taxonomy = { category: 'kept' };
    await server.ask('POST', 'main/messages', { send: { ...hello, taxonomy, uids: many(30) } });
    await server.ask('POST', 'main/broadcasts', { send: { ...hello, taxonomy } });
    await runDue();
  };
  // But for the sends, which are redacted, and for lines and receipts, which say nothing of what is gone.
  const inOffer = async () =>
    (await stored()).filter(
      ({ kind, sk, ...item }) =>
        (kind === 'UM' || kind === 'UE' || sk === 'c#offer') && JSON.stringify([sk, item]).includes('offer'),
    );

  it('hides them at once from everyone, removes them, and leaves others alone', async () => {
    await fill(server);
    await keep();
    const send_at = server.clock.now() / 1000 + 10;
    const later = { ...hello, taxonomy: { category: 'offer' }, send_at, host_system_id: 'H-2' };
    await server.ask('POST', 'main/broadcasts', { send: later });
    const before = await countsOf('u1');
    expect([before.total, before.categories.offer?.total]).toEqual([5, 2]);
    const { data } = (await server.ask('GET', 'main/sends')).body;
    const ids = data.filter(one => one.taxonomy?.category === 'offer').map(one => one.id);

    const { status, body } = await server.ask('DELETE', doomed);
    expect([status, body.status]).toEqual([202, 'erasing']);
    expect((await server.ask('DELETE', doomed)).status).toBe(202);
    for (const uid of ['u1', 'u29', 'newcomer']) {
      expect((await countsOf(uid)).categories).not.toHaveProperty('offer');
      const shown = (await server.ask('GET', `main/users/${uid}/messages`)).body.data;
      expect(shown.filter(one => one.taxonomy?.category === 'offer')).toEqual([]);
      expect((await countsOf(uid)).total).toBe(shown.length);
    }
    for (const id of ids) {
      expect((await server.ask('GET', `main/users/u1/messages/${id}`)).status).toBe(404);
      expect((await server.ask('PUT', `main/users/u1/messages/${id}/read`)).status).toBe(404);
      expect((await server.ask('GET', `main/sends/${id}/receipts`)).body.data).toEqual([]);
    }
    expect((await server.ask('GET', 'main/public-counts')).body).toMatchObject({
      published: 1,
      categories: { kept: 1 },
    });
    const again = { ...hello, taxonomy: { category: 'offer' } };
    for (const [path, send] of [
      ['main/messages', { ...again, uids: ['u1'] }],
      ['main/broadcasts', again],
    ] as const)
      expect((await server.ask('POST', path, { send })).body.code).toBe('inbox.category_being_deleted');
    // Its host ids are free, as those of what was redacted.
    const send = { ...hello, uids: ['u1'], host_system_id: 'H-1' };
    expect((await server.ask('POST', 'main/messages', { send })).status).toBe(201);
    expect((await server.ask('GET', 'main/categories')).body.data).toMatchObject([
      { category: 'offer', deleting: true },
      { category: 'kept', deleting: false },
    ]);

    await server.clock.advance(10_000);
    await untilErased();
    expect((await progress()).erased).toBe(3);
    expect(await inOffer()).toEqual([]);
    expect(await countsOf('u1')).toMatchObject({ total: 4, categories: { kept: { total: 2 } } });
    expect((await countsOf('u29')).categories.kept?.total).toBe(2);
    expect((await server.ask('GET', 'main/categories')).body.data).toMatchObject([{ category: 'kept' }]);
    expect((await server.ask('POST', 'main/broadcasts', { send: again })).status).toBe(201);
    expect((await countsOf('u1')).categories.offer?.total).toBe(1);
  });

  it('resumes after its worker was killed, at any write', async () => {
    await fill(server);
    await keep();
    await server.ask('DELETE', doomed);
    const { client } = server.engine;
    const { transactWrite, update } = client;
    for (let kill = 0; (await progress()).status !== 'erased'; kill++) {
      let left = kill % 9;
      const dying =
        <I, O>(write: (input: I) => Promise<O>, isAfter: boolean) =>
        async (input: I): Promise<O> => {
          if (left-- !== 0) return write(input);
          if (isAfter) await write(input);
          throw new Error('killed');
        };
      const isAfter = kill % 2 === 0;
      Object.assign(client, { transactWrite: dying(transactWrite, isAfter), update: dying(update, isAfter) });
      await runDue();
      Object.assign(client, { transactWrite, update });
      expect((await countsOf('u1')).categories).toMatchObject({ kept: { total: 2 } });
      expect((await countsOf('u1')).categories).not.toHaveProperty('offer');
      await server.clock.advance(limits.leaseMs + limits.quietMs);
    }
    expect(await inOffer()).toEqual([]);
  });

  it('finds messages that were in flight when it began', async () => {
    await fill(server);
    const { client } = server.engine;
    const { transactWrite } = client;
    let release = () => {};
    const held = new Promise<void>(resolve => (release = resolve));
    let isHeld = () => {};
    const reached = new Promise<void>(resolve => (isHeld = resolve));
    client.transactWrite = async input => {
      client.transactWrite = transactWrite;
      isHeld();
      await held;
      return transactWrite(input);
    };
    const send = { ...hello, taxonomy: { category: 'offer' }, uids: ['u1', 'late'] };
    const publishing = server.ask('POST', 'main/messages', { send });
    await reached;
    await server.ask('DELETE', doomed);
    await runDue();
    release();
    expect((await publishing).status).toBe(201);
    for (const uid of ['u1', 'late']) expect((await countsOf(uid)).categories).toEqual({});
    await untilErased();
    expect(await inOffer()).toEqual([]);
    for (const uid of ['u1', 'late']) expect((await countsOf(uid)).categories).toEqual({});
  });

  it('ends when the whole inbox is deleted', async () => {
    await fill(server);
    await server.ask('DELETE', doomed);
    await server.ask('DELETE', 'main');
    for (let i = 0; i < 3; i++) {
      await runDue();
      await server.clock.advance(limits.quietMs + limits.leaseMs);
    }
    expect((await server.ask('GET', 'main/erasure')).body.status).toBe('erased');
    expect(await stored()).toEqual([]);
  });

  it('is limited in number, and frees its category at once', async () => {
    await fill(server);
    const broadcast = (category: string) =>
      server.ask('POST', 'main/broadcasts', { send: { ...hello, taxonomy: { category }, ttl: '1h' } });
    for (let i = 1; i < limits.categories; i++) await broadcast(`c${i}`);
    expect((await broadcast('one-more')).body.code).toBe('inbox.too_many_categories');
    expect((await server.ask('DELETE', doomed, { as: 'reader' })).status).toBe(403);
    expect((await server.ask('DELETE', doomed, { as: 'bob' })).status).toBe(404);
    expect((await server.ask('DELETE', doomed)).status).toBe(202);
    expect((await broadcast('one-more')).status).toBe(201);
    for (let i = 1; i < limits.categoriesErased; i++)
      expect((await server.ask('DELETE', `main/categories/c${i}?messages=delete`)).status).toBe(202);
    const { status, body } = await server.ask('DELETE', 'main/categories/c9?messages=delete');
    expect([status, body.code]).toEqual([503, 'inbox.deletions_busy']);
    expect((await server.ask('DELETE', 'main/categories/none?messages=delete')).status).toBe(404);
  });
});
