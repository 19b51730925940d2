import { describe, expect, expectTypeOf, it } from 'vitest';
import { iterate, StakError } from '../src/index.ts';
import { openApi, openClient } from './shelf-api.ts';

const failure = async (call: Promise<unknown>): Promise<StakError> => {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof StakError) return error;
  throw new Error(`It was ${error}`);
};

describe('a call', () => {
  it('has the types of its route, and gives data, ETag and request id', async () => {
    const { client } = await openClient();
    const added = await client.books.add({ body: { title: 'A' } });
    expectTypeOf(added.data).toEqualTypeOf<{ id: string; title: string; version: number }>();
    expect(added).toMatchObject({
      status: 201,
      data: { id: 'b1', title: 'A', version: 1 },
      isReplayed: false,
    });
    expect(added.headers.get('location')).toBe('/v1/books/b1');
    const read = await client.books.read({ id: 'b1' });
    expect(read).toMatchObject({
      data: added.data,
      etag: '"v1"',
      request_id: expect.stringMatching(/^req_/),
    });
    expect((await client.me.read()).data).toEqual({ kind: 'account' });
    expect((await client.books.burn({ id: 'b1' })).data).toBeUndefined();
  });

  it('does not compile with arguments its route does not take', async () => {
    const { client } = await openClient();
    const wrong = () => [
      // @ts-expect-error a path needs its parameter
      client.books.read({}),
      // @ts-expect-error a body has no such field
      client.books.add({ body: { titel: 'A' } }),
      // @ts-expect-error an edit says what it has read
      client.books.edit({ id: 'b1', body: { title: 'B' } }),
      // @ts-expect-error there is no such operation
      client.books.steal?.(),
    ];
    expect(wrong).toBeTypeOf('function');
  });

  it('edits only the version that it has read', async () => {
    const { client } = await openClient();
    await client.books.add({ body: { title: 'A' } });
    const { etag } = await client.books.read({ id: 'b1' });
    const edited = await client.books.edit({ id: 'b1', body: { title: 'B' } }, { ifMatch: etag! });
    expect(edited).toMatchObject({ data: { title: 'B', version: 2 }, etag: '"v2"' });
    const lost = await failure(client.books.edit({ id: 'b1', body: { title: 'C' } }, { ifMatch: etag! }));
    expect([lost.status, lost.code]).toEqual([412, 'http.version_mismatch']);
  });

  it('sends the token only to routes that require one', async () => {
    const sent: (string | null)[] = [];
    const { client } = await openClient({
      fetch: (url, init) => {
        sent.push(new Headers(init?.headers).get('authorization'));
        return fetch(url, init);
      },
    });
    await client.books.add({ body: { title: 'A' } });
    await failure(client.failures.make({ how: 'app' }));
    await failure(client.hooks.take({ id: 'h1', body: 'hello' }));
    expect(sent).toEqual([expect.stringMatching(/^Bearer /), null, null]);
  });

  it('fails with the server’s problem', async () => {
    const { client } = await openClient();
    const missing = await failure(client.books.read({ id: 'none' }));
    expect(missing).toMatchObject({
      code: 'shelf.book_not_found',
      status: 404,
      detail: 'No such book',
      errors: [],
    });
    expect(missing.request_id).toMatch(/^req_/);
    expect(missing.message).toBe('shelf.book_not_found: No such book');
    const invalid = await failure(client.books.add({ body: { title: '' } }));
    expect(invalid.errors).toMatchObject([{ in: 'body', pointer: '#/title', code: 'too_small' }]);
    const full = await failure(client.books.add({ body: { title: 'too much' } }));
    expect(full.details).toEqual({ most: 3 });
  });

  it('carries bytes, headers and repeated parameters as they are', async () => {
    const { client } = await openClient();
    const body = new Uint8Array([0, 255, 10, 13]);
    const kept = await client.files.put({ name: 'ä /?#%', label: ['a&b', 'c'], 'x-note': 'hi', body });
    expect(kept.data).toEqual(new Uint8Array([13, 10, 255, 0]));
    expect(JSON.parse(kept.headers.get('x-seen')!)).toEqual(['ä /?#%', { label: 'a&b' }, 'hi']);
  });

  it.each(['', '.', '..'])('never calls another route because an id is %j', async id => {
    const { client } = await openClient();
    expect(await failure(client.books.read({ id }))).toMatchObject({ code: 'client.argument_refused' });
  });

  it('stops when its signal is aborted', async () => {
    const control = new AbortController();
    const { client } = await openClient(
      {},
      openApi({ onAdd: () => new Promise(() => control.abort('enough')) }),
    );
    await expect(client.books.add({ body: { title: 'A' } }, { signal: control.signal })).rejects.toBe(
      'enough',
    );
  });
});

describe('a key', () => {
  it('is sent with requests that create, a new one for each call', async () => {
    const { api, client } = await openClient();
    await client.books.add({ body: { title: 'A' } });
    await client.books.add({ body: { title: 'A' } });
    expect(api.books.size).toBe(2);
  });

  it('may be the caller’s own', async () => {
    const { api, client } = await openClient();
    const add = () => client.books.add({ body: { title: 'A' } }, { idempotencyKey: 'mine' });
    expect([(await add()).isReplayed, (await add()).isReplayed, api.books.size]).toEqual([false, true, 1]);
  });
});

it('is refused if it would be ignored', async () => {
  const { client } = await openClient();
  const call = client.failures.make({ how: 'closed' }, { idempotencyKey: 'mine' });
  expect(await failure(call)).toMatchObject({ code: 'client.argument_refused' });
});

describe('a list', () => {
  it('is read to its end, and no further than needed', async () => {
    const requests: string[] = [];
    const { client } = await openClient({
      fetch: (url, init) => {
        requests.push(new URL(url).search);
        return fetch(url, init);
      },
    });
    for (const title of ['A', 'B', 'C', 'D', 'E']) await client.books.add({ body: { title } });
    requests.length = 0;
    const titles: string[] = [];
    for await (const book of iterate(client.books.list, { limit: 2 })) titles.push(book.title);
    expect([titles, requests.length]).toEqual([['A', 'B', 'C', 'D', 'E'], 3]);
    for await (const book of iterate(client.books.list)) if (book.title === 'A') break;
    expect(requests.length).toBe(4);
  });
});

describe('a token', () => {
  it('is requested again for each request', async () => {
    const tokens = ['ann', 'endUser'];
    const { client } = await openClient({ token: async () => tokens.shift() });
    expect([(await client.me.read()).data.kind, (await client.me.read()).data.kind]).toEqual([
      'account',
      'endUser',
    ]);
    expect(await failure(client.me.read())).toMatchObject({ status: 401, code: 'http.unauthenticated' });
  });

  it('is renewed once for all calls that were refused together', async () => {
    let token = 'expired';
    let renewals = 0;
    const { client } = await openClient({
      token: () => token,
      onUnauthorized: async () => {
        renewals += 1;
        await new Promise(setImmediate);
        token = 'ann';
        return true;
      },
    });
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.me.read()));
    expect(answers.map(answer => answer.data.kind)).toEqual(Array(8).fill('account'));
    expect(renewals).toBe(1);
  });

  it('that stays invalid is an error, after one more attempt', async () => {
    let renewals = 0;
    const { client } = await openClient({ token: 'bad', onUnauthorized: () => ++renewals > 0 });
    expect(await failure(client.me.read())).toMatchObject({ status: 401 });
    expect(renewals).toBe(1);
  });
});
