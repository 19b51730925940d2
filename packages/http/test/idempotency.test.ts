import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMemoryIdempotency, endpoint, json, type Problem, route } from '../src/index.ts';
import { testIdempotencyStore } from './idempotency-store-suite.ts';
import { openShelf, type Shelf } from './shelf-service.ts';

testIdempotencyStore(async clock => createMemoryIdempotency({ clock }));

it('limits the keys in memory', async () => {
  const { clock } = openShelf();
  const store = createMemoryIdempotency({ clock, mostEntries: 3 });
  for (let i = 0; i < 10; i++)
    await store.begin({ key: `${i}`, fingerprint: '', ttlMs: 1000, leaseMs: 1000 });
  expect(store.size()).toBe(3);
});

const add = (shelf: Shelf, title: string, key: string, as = 'ann') =>
  shelf.call('/v1/books', { method: 'POST', as, send: { title }, headers: { 'Idempotency-Key': key } });

const codeOf = async (response: Response) => [response.status, ((await response.json()) as Problem).code];

describe('an Idempotency-Key', () => {
  it('gets the stored answer, byte for byte', async () => {
    const shelf = openShelf();
    const first = await add(shelf, 'A', 'k1');
    const second = await add(shelf, 'A', 'k1');
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.headers.get('idempotency-replayed')).toBeNull();
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.headers.get('location')).toBe('/v1/books/b1');
    expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(second.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await second.text()).toBe(await first.text());
    expect(shelf.books.size).toBe(1);
  });

  it('is for one body, one caller and one day', async () => {
    const shelf = openShelf();
    await add(shelf, 'A', 'k1');
    expect(await codeOf(await add(shelf, 'B', 'k1'))).toEqual([422, 'http.idempotency_mismatch']);
    expect((await add(shelf, 'A', 'k1', 'bob')).headers.get('idempotency-replayed')).toBeNull();
    expect((await add(shelf, 'A', 'k1', 'annkey')).headers.get('idempotency-replayed')).toBe('true');
    await shelf.clock.advance(24 * 60 * 60 * 1000 + 1);
    expect((await add(shelf, 'B', 'k1')).status).toBe(201);
    expect(shelf.books.size).toBe(3);
  });

  it('of one member of an organisation is separate from those of others', async () => {
    const member = (userId: string) =>
      ({
        kind: 'account',
        accountId: 'org_1',
        scope: 'write',
        via: 'session',
        credentialId: userId,
        userId,
      }) as const;
    const shelf = openShelf({ authenticate: ({ token }) => member(token) });
    await add(shelf, 'A', 'k1', 'usr_ann');
    expect((await add(shelf, 'A', 'k1', 'usr_bob')).headers.get('idempotency-replayed')).toBeNull();
    expect((await add(shelf, 'A', 'k1', 'usr_ann')).headers.get('idempotency-replayed')).toBe('true');
  });

  it('of a credential that is limited to some tenants is separate from others', async () => {
    const shelf = openShelf();
    await add(shelf, 'A', 'k1', 'annkey');
    expect((await add(shelf, 'A', 'k1', 'limited')).headers.get('idempotency-replayed')).toBeNull();
    expect((await add(shelf, 'A', 'k1', 'limited')).headers.get('idempotency-replayed')).toBe('true');
    await add(shelf, 'A', 'k2', 'limited');
    expect((await add(shelf, 'B', 'k2', 'annkey')).status).toBe(201);
  });

  it('stores a refusal, but no crash, nothing retryable, and nothing that was never started', async () => {
    const shelf = openShelf();
    const refused = [await add(shelf, 'too much', 'k1'), await add(shelf, 'too much', 'k1')];
    expect(refused.map(one => one.status)).toEqual([409, 409]);
    expect(await refused[1]?.text()).toBe(await refused[0]?.text());
    const crashed = [await add(shelf, 'crash', 'k2'), await add(shelf, 'crash', 'k2')];
    expect(crashed.map(one => one.status)).toEqual([500, 500]);
    expect(crashed[1]?.headers.get('idempotency-replayed')).toBeNull();
    expect((await add(shelf, 'closed', 'k2')).headers.get('retry-after')).toBe('7');
    const busy = [await add(shelf, 'busy', 'k4'), await add(shelf, 'busy', 'k4')];
    expect(busy.map(one => [one.status, one.headers.get('retry-after')])).toEqual([
      [429, '3'],
      [429, '3'],
    ]);
    expect(busy[1]?.headers.get('idempotency-replayed')).toBeNull();
    expect((await add(shelf, '', 'k3')).status).toBe(400);
    expect((await add(shelf, 'A', 'k3')).status).toBe(201);
  });

  it('runs once, even if its response is too large to store', async () => {
    let runs = 0;
    const report = route({
      method: 'post',
      path: '/v1/reports',
      reaches: 'nothing',
      audit: false,
      stores: 'nothing',
      tenant: 'none',
      mcp: false,
      auth: 'account',
      scope: 'write',
      idempotent: true,
      summary: 'Make a report',
      responses: { 201: json(z.string()) },
    });
    const make = endpoint(report, c => c.json('x'.repeat(400_000 + runs++), 201));
    const shelf = openShelf({ more: [make] });
    const call = () =>
      shelf.call('/v1/reports', { method: 'POST', as: 'ann', headers: { 'Idempotency-Key': 'k1' } });
    const first = await call();
    expect([first.status, (await first.text()).length]).toEqual([201, 400_002]);
    const second = await call();
    expect(second.headers.get('content-type')).toBe('application/problem+json');
    expect(await codeOf(second)).toEqual([409, 'http.answer_not_kept']);
    expect(runs).toBe(1);
  });

  it('gives its handler the same ids again after an answer that is not stored', async () => {
    const seen: [ids: string[], isRepeated: boolean | undefined][] = [];
    const report = route({
      method: 'post',
      path: '/v1/reports',
      reaches: 'nothing',
      audit: false,
      stores: 'nothing',
      tenant: 'none',
      mcp: false,
      auth: 'account',
      scope: 'write',
      idempotent: true,
      summary: 'Make a report',
      responses: { 201: json(z.string()) },
    });
    const make = endpoint(report, c => {
      const ids = c.get('ids');
      seen.push([[ids.next('rep'), ids.next('rep')], c.get('isRepeated')]);
      if (seen.length < 3) throw new Error('killed after the change');
      return c.json('made', 201);
    });
    const shelf = openShelf({ more: [make] });
    const call = (headers: Record<string, string> = { 'Idempotency-Key': 'k1' }) =>
      shelf.call('/v1/reports', { method: 'POST', as: 'ann', headers });
    for (let i = 0; i < 4; i++) {
      await call();
      await shelf.clock.advance(1000);
    }
    await call({ 'Idempotency-Key': 'k2' });
    await call({});
    const [first, , , other, without] = seen;
    expect(seen.slice(0, 3)).toEqual([first, [first![0], true], [first![0], true]]);
    expect([first, other, without].map(one => one![1])).toEqual([false, false, undefined]);
    expect(new Set([first, other, without].flatMap(one => one![0])).size).toBe(6);
    expect(first![0][0]! < first![0][1]!).toBe(true);
  });

  it('makes the second request wait for the first', async () => {
    let release = () => {};
    const shelf = openShelf({ onAdd: () => new Promise<void>(resolve => (release = resolve)) });
    const first = add(shelf, 'A', 'k1');
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    const second = await add(shelf, 'A', 'k1');
    expect(second.headers.get('retry-after')).toBe('1');
    expect(await codeOf(second)).toEqual([409, 'http.request_in_flight']);
    release();
    expect((await first).status).toBe(201);
    expect((await add(shelf, 'A', 'k1')).headers.get('idempotency-replayed')).toBe('true');
  });

  it.each(['ü', 'a b', 'x'.repeat(256)])('is refused as %j', async key => {
    const response = await add(openShelf(), 'A', key);
    const { errors } = (await response.json()) as Problem;
    expect([response.status, errors?.[0]?.pointer]).toEqual([400, '#/Idempotency-Key']);
  });

  it('responds even if its record could not be written', async () => {
    const failing = async () => {
      throw new Error('store down');
    };
    const shelf = openShelf({
      idempotency: {
        begin: async () => ({
          kind: 'started',
          attempt: { finish: failing, abandon: failing },
          first: { name: 'a', atMs: 0 },
          isRepeated: false,
        }),
      },
    });
    expect((await add(shelf, 'A', 'k1')).status).toBe(201);
    expect(shelf.lines.join('')).toContain('store down');
  });

  it('creates once, however requests interleave', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 6 }), async (scheduler, count) => {
        const shelf = openShelf({ onAdd: () => scheduler.schedule(Promise.resolve(), 'add').then(() => {}) });
        const sent = Array.from({ length: count }, async (_, i) => {
          await scheduler.schedule(Promise.resolve(), `send ${i}`);
          return add(shelf, 'A', 'k1');
        });
        while (scheduler.count() > 0) {
          await scheduler.waitOne();
          for (let i = 0; i < 5; i++) await new Promise(setImmediate);
        }
        const statuses = (await Promise.all(sent)).map(one => one.status);
        expect(shelf.books.size).toBe(1);
        expect(statuses).toContain(201);
        expect(statuses.every(status => status === 201 || status === 409)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
