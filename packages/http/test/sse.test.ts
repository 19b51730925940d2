import { AppError } from '@stak/kit';
import { describe, expect, it } from 'vitest';
import {
  type ApiSettings,
  type EventSink,
  endpoint,
  events,
  route,
  type SseOptions,
  sse,
} from '../src/index.ts';
import { openShelf } from './shelf-service.ts';

const feedRoute = route({
  method: 'get',
  path: '/v1/feed',
  reaches: 'nothing',
  audit: false,
  stores: 'nothing',
  tenant: 'none',
  mcp: false,
  auth: 'account',
  scope: 'read',
  summary: 'Follow',
  responses: { 200: events() },
});

const ann = { kind: 'account', accountId: 'a', scope: 'read', via: 'api_key', credentialId: 'k' } as const;

// A feed whose subscription the test holds in its hands.
function openFeed(
  options: Partial<SseOptions> = {},
  change: Partial<Pick<ApiSettings, 'authenticate' | 'revocations' | 'inFlight'>> = {},
) {
  const sinks: { after: string | undefined; sink: EventSink; finish(): void; fail(error: Error): void }[] =
    [];
  const subscribe: SseOptions['subscribe'] = (after, sink) =>
    new Promise<void>((finish, fail) => void sinks.push({ after, sink, finish, fail }));
  const more = [endpoint(feedRoute, c => sse(c, { enter: () => {}, subscribe, ...options }))];
  const shelf = openShelf({ more, ...change });
  const follow = async (headers: Record<string, string> = {}, method = 'GET') =>
    shelf.call('/v1/feed', { as: 'ann', headers, method });
  return { ...shelf, follow, sinks };
}

function reader(response: Response) {
  const source = response.body!.getReader();
  const decoder = new TextDecoder();
  const next = async () => {
    const { done, value } = await source.read();
    return done ? undefined : decoder.decode(value);
  };
  const rest = async () => {
    let text = '';
    for (let chunk = await next(); chunk !== undefined; chunk = await next()) text += chunk;
    return text;
  };
  return { next, rest, cancel: () => source.cancel() };
}

const ended = (reason: string) => `event: end\ndata: {"reason":"${reason}"}\n\n`;

describe('an event stream', () => {
  it('sends events with ids, and every line of their data', async () => {
    const { follow, sinks } = openFeed();
    const response = await follow();
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    const { sink, finish } = sinks[0]!;
    sink.send({ id: '1', data: { text: 'a\nb' } });
    sink.send({ id: '2', event: 'note', data: 'one\r\ntwo\rthree\nid: 9' });
    finish();
    expect(await reader(response).rest()).toBe(
      'retry: 2000\n\n' +
        'id: 1\ndata: {"text":"a\\nb"}\n\n' +
        'id: 2\nevent: note\ndata: one\ndata: two\ndata: three\ndata: id: 9\n\n' +
        ended('done'),
    );
    expect(sink.signal.aborted).toBe(true);
  });

  it('counts among the requests of its address, until it ends', async () => {
    const { follow, sinks, api } = openFeed();
    const responses = [await follow(), await follow()];
    expect(api.inFlight.usage()).toMatchObject({ requests: 2, bodyBytes: 0 });
    sinks[0]!.finish();
    await reader(responses[1]!).cancel();
    await expect.poll(() => api.inFlight.usage().requests).toBe(0);
  });

  it('is refused if its address has too many open, for any users', async () => {
    const { follow, sinks } = openFeed({}, { inFlight: { requestsPerAddress: 2 } });
    const statuses = [(await follow()).status, (await follow()).status, (await follow()).status];
    expect(statuses).toEqual([200, 200, 429]);
    sinks[0]!.finish();
    await expect.poll(async () => (await follow()).status).toBe(200);
  });

  it('resumes after the id the client saw last', async () => {
    const { follow, sinks } = openFeed();
    await follow({ 'Last-Event-ID': 'evt_41' });
    await follow();
    expect(sinks.map(one => one.after)).toEqual(['evt_41', undefined]);
  });

  it.each(['é', 'x'.repeat(257)])('refuses a Last-Event-ID like %j', async id => {
    const { follow, sinks } = openFeed();
    expect((await follow({ 'Last-Event-ID': id })).status).toBe(400);
    expect(sinks).toEqual([]);
  });

  it('refuses an event that would break its frame', async () => {
    const { follow, sinks } = openFeed();
    await follow();
    expect(() => sinks[0]!.sink.send({ id: '1\ndata: forged', data: '' })).toThrow(TypeError);
    expect(() => sinks[0]!.sink.send({ event: 'a\rb', data: '' })).toThrow(TypeError);
  });

  it('sends heartbeats while idle, and ends with its time', async () => {
    const { follow, clock } = openFeed({ heartbeatMs: 1000, lifetimeMs: 2500 });
    const { next, rest } = reader(await follow());
    expect(await next()).toBe('retry: 2000\n\n');
    await clock.advance(999);
    const beat = next();
    await clock.advance(1);
    expect(await beat).toBe(': still here\n\n');
    await clock.advance(1500);
    expect(await rest()).toBe(`: still here\n\n: still here\n\n${ended('lifetime')}`);
    expect(clock.sleepers()).toBe(0);
  });

  it('ends when its token is no longer valid, which is checked with every heartbeat', async () => {
    let isRevoked = false;
    const { follow, clock, sinks } = openFeed({}, { authenticate: () => (isRevoked ? undefined : ann) });
    const { rest } = reader(await follow());
    await clock.advance(15_000);
    expect(sinks[0]!.sink.signal.aborted).toBe(false);
    isRevoked = true;
    await clock.advance(15_000);
    expect(await rest()).toBe(`retry: 2000\n\n: still here\n\n${ended('unauthenticated')}`);
    expect([sinks[0]!.sink.signal.aborted, clock.sleepers()]).toEqual([true, 0]);
  });

  it('ends when the caller loses access, which is checked with every heartbeat', async () => {
    let isSuspended = false;
    const enter = async () => {
      if (isSuspended) throw new AppError('shelf.suspended', 'Closed.');
    };
    const { follow, clock, lines } = openFeed({ enter });
    const { rest } = reader(await follow());
    await clock.advance(15_000);
    isSuspended = true;
    await clock.advance(15_000);
    expect(await rest()).toBe(`retry: 2000\n\n: still here\n\n${ended('refused')}`);
    expect(lines).toEqual([]);
  });

  it('ends when its token cannot be verified', async () => {
    let calls = 0;
    const authenticate = async () => {
      if (calls++ > 0) throw new Error('store down');
      return ann;
    };
    const { follow, clock, lines } = openFeed({}, { authenticate });
    const { rest } = reader(await follow());
    await clock.advance(15_000);
    expect(await rest()).toBe(`retry: 2000\n\n${ended('failed')}`);
    expect(lines.join('')).toContain('store down');
  });

  it('disconnects a consumer that is too far behind, with a reason', async () => {
    const { follow, sinks, clock } = openFeed({ bufferBytes: 1000 });
    const response = await follow();
    const { sink } = sinks[0]!;
    const event = { data: 'x'.repeat(100) };
    let sent = 0;
    while (!sink.signal.aborted) {
      sink.send(event);
      sent++;
    }
    expect(sink.signal.reason).toBe('slow_consumer');
    expect(sent).toBeLessThan(12);
    sink.send(event);
    expect(clock.sleepers()).toBe(0);
    const text = await reader(response).rest();
    expect(text.length).toBeLessThan(1200);
    expect(text.endsWith(ended('slow_consumer'))).toBe(true);
  });

  it('lets a long history wait for its consumer instead', async () => {
    const { follow, sinks } = openFeed({ bufferBytes: 1000 });
    const response = await follow();
    const { sink, finish } = sinks[0]!;
    let sent = 0;
    const history = (async () => {
      for (; sent < 200; sent++) {
        await sink.ready();
        sink.send({ id: String(sent), data: 'x'.repeat(50) });
      }
      finish();
    })();
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
    expect(sent).toBeLessThan(20);
    const text = await reader(response).rest();
    await history;
    expect(text.match(/^id: /gm)).toHaveLength(200);
    expect(text.endsWith(ended('done'))).toBe(true);
  });

  it('ends for a client that disconnects, also one that waits', async () => {
    const { follow, sinks, clock } = openFeed({ bufferBytes: 100 });
    const { cancel } = reader(await follow());
    const { sink } = sinks[0]!;
    sink.send({ data: 'x'.repeat(200) });
    const waiting = sink.ready();
    await cancel();
    await waiting;
    expect([sink.signal.aborted, sink.signal.reason]).toEqual([true, 'gone']);
    sink.send({ data: 'nobody reads this' });
    await new Promise(setImmediate);
    expect(clock.sleepers()).toBe(0);
  });

  it('ends when the server stops, and accepts no more', async () => {
    const { follow, api, clock } = openFeed();
    const response = await follow();
    api.stop();
    expect(await reader(response).rest()).toBe(`retry: 2000\n\n${ended('stopping')}`);
    expect(await reader(await follow()).rest()).toContain(ended('stopping'));
    await new Promise(setImmediate);
    expect(clock.sleepers()).toBe(0);
  });

  it('ends without details of a failure, which is logged', async () => {
    const { follow, sinks, lines } = openFeed();
    const response = await follow();
    sinks[0]!.fail(new Error('secret wiring'));
    expect(await reader(response).rest()).toBe(`retry: 2000\n\n${ended('failed')}`);
    expect(lines.join('')).toContain('secret wiring');
  });

  it('ends within a second of a revocation, with one read for all streams, and only those concerned', async () => {
    const notices: { id: string; subject: string }[] = [];
    let reads = 0;
    const recent = async () => {
      reads += 1;
      return notices;
    };
    const asked: string[] = [];
    const gone = new Set<string>();
    const authenticate: ApiSettings['authenticate'] = async ({ token, fresh }) => {
      if (fresh) asked.push(token);
      return gone.has(token) ? undefined : { ...ann, accountId: token };
    };
    const { call, clock, api } = openFeed({}, { authenticate, revocations: { recent } });
    const open = (as: string) => call('/v1/feed', { as });
    const [bob, eve] = [await open('bob'), await open('eve')];
    for (let i = 0; i < 8; i++) await open('eve');
    await clock.advance(2000);
    expect({ reads, asked }).toEqual({ reads: 4, asked: [] });

    // The notice is there before what it tells of.
    notices.push(
      { id: '1 account bob', subject: 'account bob' },
      { id: '2 tenant eve', subject: 'tenant eve' },
    );
    await clock.advance(500);
    expect(asked).toEqual(['bob']);
    gone.add('bob');
    await clock.advance(500);
    expect(await reader(bob).rest()).toContain(ended('unauthenticated'));
    await clock.advance(3000);
    expect(asked).toEqual(['bob', 'bob']);
    api.stop();
    expect(await reader(eve).rest()).toContain(ended('stopping'));
    await new Promise(setImmediate);
    expect(clock.sleepers()).toBe(0);
  });

  it('polls for a limited time, and not without listeners', async () => {
    let reads = 0;
    const recent = async () => {
      reads += 1;
      return [{ id: '1', subject: 'account a' }];
    };
    let asked = 0;
    const authenticate: ApiSettings['authenticate'] = async ({ fresh }) => {
      if (fresh) asked += 1;
      return ann;
    };
    const { follow, clock } = openFeed({}, { authenticate, revocations: { recent } });
    const { cancel } = reader(await follow());
    await clock.advance(10_000);
    expect({ reads, asked }).toEqual({ reads: 20, asked: 7 });
    await cancel();
    await clock.advance(10_000);
    expect(reads).toBe(21);
    const { cancel: leave } = reader(await follow());
    await clock.advance(500);
    expect(reads).toBe(22);
    await leave();
  });

  it('is limited in number per caller', async () => {
    const { follow, sinks } = openFeed();
    const responses = await Promise.all(Array.from({ length: 20 }, () => follow()));
    expect(responses.every(one => one.status === 200)).toBe(true);
    const refused = await follow();
    expect([refused.status, refused.headers.get('retry-after'), sinks.length]).toEqual([429, '15', 20]);
    await reader(responses[0]!).cancel();
    expect((await follow()).status).toBe(200);
  });

  it('does not subscribe for a HEAD', async () => {
    const { follow, sinks } = openFeed();
    const response = await follow({}, 'HEAD');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(sinks).toEqual([]);
  });
});
