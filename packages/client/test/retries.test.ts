import { describe, expect, it } from 'vitest';
import { type ClientSettings, StakError } from '../src/index.ts';
import { connect, openApi, openClient } from './shelf-api.ts';

type Step = Response | Error;

const problem = (status: number, code: string, retryAfter?: string) =>
  new Response(JSON.stringify({ code, status, detail: 'No' }), {
    status,
    headers: { 'Content-Type': 'application/problem+json', ...(retryAfter && { 'Retry-After': retryAfter }) },
  });
const fine = () => Response.json({ id: 'b1', title: 'A', version: 1 }, { status: 200 });
const reset = () => new TypeError('fetch failed');

// A client whose server answers by a script, and whose waits are written down instead of waited for.
function script(steps: Step[], settings: Partial<ClientSettings> = {}) {
  const sent: { method: string; key: string | null }[] = [];
  const waits: number[] = [];
  const client = connect({
    baseUrl: 'http://shelf.example/api/',
    random: () => 0.5,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      waits.push(ms);
    },
    fetch: async (url, init) => {
      expect(url).toMatch(/^http:\/\/shelf\.example\/api\/v1\//);
      sent.push({ method: init.method!, key: new Headers(init.headers).get('idempotency-key') });
      const step = steps.shift();
      if (!step) throw new Error('There was no more to be sent');
      if (step instanceof Error) throw step;
      return step;
    },
    ...settings,
  });
  return { client, sent, waits };
}

const edit = { id: 'b1', body: { title: 'B' } };

describe('another attempt', () => {
  it('is made while the server requests it, for any method', async () => {
    const { client, waits } = script([
      problem(429, 'http.rate_limited', '2'),
      problem(503, 'x.busy', '1'),
      fine(),
    ]);
    expect((await client.books.edit(edit, { ifMatch: '"v1"' })).data.id).toBe('b1');
    expect(waits).toEqual([2000 + 125, 1000 + 250]);
  });

  it('has the same key, so that nothing is created twice', async () => {
    const { client, sent } = script([reset(), problem(409, 'http.request_in_flight', '1'), fine()]);
    await client.books.add({ body: { title: 'A' } });
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(one => one.key)).size).toBe(1);
    expect(sent[0]?.key).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each([
    ['a lost read', (c: Client) => c.books.read({ id: 'b1' }), 2],
    ['a lost deletion', (c: Client) => c.books.burn({ id: 'b1' }), 2],
    ['a lost edit of a version', (c: Client) => c.books.edit(edit, { ifMatch: '"v1"' }), 1],
    ['a lost command without a key', (c: Client) => c.failures.make({ how: 'x' }), 1],
  ])('after %s', async (_, call, attempts) => {
    for (const lost of [reset(), problem(502, 'proxy'), problem(504, 'proxy')]) {
      const { client, sent } = script([lost, fine()]);
      await call(client).catch(() => {});
      expect(sent).toHaveLength(attempts);
    }
  });

  it.each([
    ['a refusal', problem(409, 'shelf.full')],
    ['a bug', problem(500, 'http.internal')],
    ['an hour to wait', problem(429, 'http.rate_limited', '3600')],
    ['a date to wait for', problem(429, 'http.rate_limited', 'Fri, 31 Dec 1999 23:59:59 GMT')],
    ['a redirection', new Response(null, { status: 302, headers: { Location: 'http://evil.example' } })],
  ])('is not made after %s', async (_, answer) => {
    const { client, sent } = script([answer, fine()]);
    await expect(client.books.read({ id: 'b1' })).rejects.toBeInstanceOf(StakError);
    expect(sent).toHaveLength(1);
  });

  it('is limited in number, with growing delays', async () => {
    const { client, sent, waits } = script(Array.from({ length: 9 }, reset), { retries: 7 });
    await expect(client.books.read({ id: 'b1' })).rejects.toMatchObject({
      code: 'client.unreachable',
      status: 0,
    });
    expect(sent).toHaveLength(8);
    expect(waits).toEqual([125, 250, 500, 1000, 2000, 4000, 4000]);
  });

  it('is not awaited once the caller has given up', async () => {
    const control = new AbortController();
    const { client, sent } = script([reset(), fine()], {
      sleep: async (_, signal) => {
        control.abort('enough');
        signal?.throwIfAborted();
      },
    });
    await expect(client.books.read({ id: 'b1' }, { signal: control.signal })).rejects.toBe('enough');
    expect(sent).toHaveLength(1);
  });

  it('finds the first one’s response on a real server', async () => {
    const api = openApi();
    let isLost = false;
    const { client } = await openClient(
      {
        random: () => 0,
        fetch: async (url, init) => {
          const response = await fetch(url, init);
          if (isLost) return response;
          isLost = true;
          throw reset();
        },
      },
      api,
    );
    expect(await client.books.add({ body: { title: 'A' } })).toMatchObject({ isReplayed: true, status: 201 });
    expect(api.books.size).toBe(1);
  });
});

type Client = ReturnType<typeof connect>;

describe('an answer', () => {
  it('that refuses a password renews no token', async () => {
    let renewals = 0;
    const onUnauthorized = () => ++renewals > 0;
    const { client } = script([problem(401, 'accounts.credentials_wrong')], { onUnauthorized });
    await expect(client.failures.make({ how: 'x' })).rejects.toMatchObject({ status: 401 });
    expect(renewals).toBe(0);
  });

  it('that is not from our server is a descriptive error', async () => {
    const page = () => new Response('<html>', { status: 404, headers: { 'Content-Type': 'text/html' } });
    await expect(script([page()]).client.books.read({ id: 'b1' })).rejects.toMatchObject({
      code: 'client.answer_invalid',
      status: 404,
    });
    const broken = new Response('{', { headers: { 'Content-Type': 'application/json' } });
    await expect(script([broken]).client.books.read({ id: 'b1' })).rejects.toMatchObject({
      code: 'client.answer_invalid',
    });
  });

  it('that does not arrive times out', async () => {
    const { client } = script([], {
      fetch: (_, { signal }) =>
        new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason))),
    });
    await expect(client.books.read({ id: 'b1' }, { timeoutMs: 5, retries: 0 })).rejects.toMatchObject({
      code: 'client.timeout',
    });
  });
});
