import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { boundedRecord, endpoint, json, type Problem, route } from '../src/index.ts';
import { openShelf } from './shelf-service.ts';

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream;

const send = (body: Body, headers: Record<string, string> = {}, shelf = openShelf()) =>
  shelf.call('/v1/books', {
    method: 'POST',
    as: 'ann',
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body instanceof ReadableStream ? ({ duplex: 'half' } as object) : {}),
  });

const codeOf = async (response: Response) => [response.status, ((await response.json()) as Problem).code];

describe('bad fields', () => {
  it('are all listed, with their location', async () => {
    const response = await send(JSON.stringify({ title: '', tags: [{ name: 1, 'a/b~c d': 2 }], more: 1 }));
    const { code, errors } = (await response.json()) as Problem;
    expect(code).toBe('http.request_invalid');
    expect(errors?.map(one => [one.in, one.pointer, one.code])).toEqual([
      ['body', '#/title', 'too_small'],
      ['body', '#/tags/0/name', 'invalid_type'],
      ['body', '#/tags/0/a~1b~0c%20d', 'unknown_field'],
      ['body', '#/more', 'unknown_field'],
    ]);
  });

  it('of query and path are listed too', async () => {
    const shelf = openShelf();
    const query = await shelf.call('/v1/books?limit=0&limt=5', { as: 'ann' });
    expect(((await query.json()) as Problem).errors?.map(one => [one.in, one.pointer])).toEqual([
      ['query', '#/limit'],
      ['query', '#/limt'],
    ]);
    const path = await shelf.call(`/v1/books/${'x'.repeat(41)}`, { as: 'ann' });
    expect(((await path.json()) as Problem).errors?.[0]).toMatchObject({ in: 'path', pointer: '#/id' });
  });

  it.each([
    'limit=1&limit=2',
    'limit=',
    'limit=1e9',
    'limit=-1',
    'limit=1.5',
    'limit=x',
    'cursor=',
    '__proto__=1',
  ])('include %s', async query => {
    expect((await openShelf().call(`/v1/books?${query}`, { as: 'ann' })).status).toBe(400);
  });

  it('are cut off if they are not read', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`${i}${'x'.repeat(300)}`, i]));
    const response = await send(JSON.stringify({ title: 'A', ...many }));
    const text = await response.text();
    expect(JSON.parse(text).errors).toHaveLength(20);
    expect(text.length).toBeLessThan(6000);
  });

  it('are not looked for after the first one in a large body', async () => {
    let checked = 0;
    const one = z.preprocess(
      value => {
        checked += 1;
        return value;
      },
      z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]),
    );
    const many = route({
      method: 'post',
      path: '/v1/many',
      reaches: 'nothing',
      audit: false,
      stores: 'nothing',
      tenant: 'none',
      mcp: false,
      auth: 'public',
      summary: 'Send many',
      request: { body: json(z.strictObject({ list: z.array(one) })) },
      responses: { 200: json(z.strictObject({})) },
    });
    const shelf = openShelf({ more: [endpoint(many, c => c.json({}, 200))] });
    const ask = async (length: number) => {
      const send = { list: Array(length).fill({}) };
      return (await (await shelf.call('/v1/many', { method: 'POST', send })).json()) as Problem;
    };
    expect((await ask(400)).errors).toHaveLength(20);
    expect(checked).toBeGreaterThanOrEqual(400);
    checked = 0;
    const { detail, errors } = await ask(20_000);
    expect(errors?.map(({ pointer }) => pointer)).toEqual(['#/list/0']);
    expect(detail).toBe('A field is not valid. See "errors". The fields after it were not checked.');
    expect(checked).toBeLessThan(10);
  });
});

describe('a record', () => {
  it('with too many entries is refused before any of them is checked', async () => {
    let checked = 0;
    const key = z.string().refine(() => {
      checked += 1;
      return false;
    });
    const labels = route({
      method: 'post',
      path: '/v1/labels',
      reaches: 'nothing',
      audit: false,
      stores: 'nothing',
      tenant: 'none',
      mcp: false,
      auth: 'public',
      summary: 'Label',
      request: { body: json(z.strictObject({ labels: boundedRecord(key, z.int(), 3) })) },
      responses: { 200: json(z.strictObject({})) },
    });
    const shelf = openShelf({ more: [endpoint(labels, c => c.json({}, 200))] });
    const errorsOf = async (count: number) => {
      const entries = Array.from({ length: count }, (_, i) => [String(i), i]);
      const body = { labels: Object.fromEntries(entries) };
      const response = await shelf.call('/v1/labels', { method: 'POST', send: body });
      return ((await response.json()) as Problem).errors?.map(({ pointer, detail }) => [pointer, detail]);
    };
    expect(await errorsOf(10_000)).toEqual([['#/labels', 'Must have at most 3 fields']]);
    expect(checked).toBe(0);
    expect(await errorsOf(2)).toHaveLength(2);
  });
});

describe('hostile bodies', () => {
  const deep = (levels: number) => `{"title":"A","tags":${'['.repeat(levels)}${']'.repeat(levels)}}`;

  it.each<[string, Body]>([
    ['half of it', '{"title":'],
    ['two of them', '{"title":"A"}{"title":"B"}'],
    ['bad UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"title":"A"}', 'utf16le')],
    ['too deep', deep(40)],
    ['very deep', deep(100_000)],
    ['deep and unclosed', '['.repeat(200_000)],
    ['too many fields', `{"title":"A","tags":[${'{"a":1},'.repeat(20_000)}1]}`],
    ['a prototype', '{"title":"A","__proto__":{"owner":"bob"}}'],
    ['a prototype inside', '{"title":"A","tags":[{"name":"x","__proto__":null}]}'],
    ['a prototype in disguise', '{"title":"A","\\u005f_proto__":{}}'],
  ])('are refused: %s', async (_, body) => {
    expect(await codeOf(await send(body))).toEqual([400, 'http.json_invalid']);
  });

  it.each(['null', '1', '[]', '"text"', '{}', ''])('that are %j have the wrong shape', async body => {
    expect(await codeOf(await send(body))).toEqual([400, 'http.request_invalid']);
  });

  it.each([
    ['{"title":"A\\ud83d","tags":[]}', '#/title'],
    ['{"title":"A","tags":[{"name":"x"},{"name":"\\uDC00"}]}', '#/tags/1/name'],
  ])('with half a character are refused at its location: %s', async (body, pointer) => {
    expect(await (await send(body)).json()).toMatchObject({
      status: 400,
      errors: [{ in: 'body', pointer, code: 'not_unicode' }],
    });
    expect((await send(body.replace(/\\ud83d|\\uDC00/, '\\ud83d\\ude00'))).status).toBe(201);
  });

  it('may contain brackets and prototypes in their texts', async () => {
    const title = '__proto__ \\u005f "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[';
    const response = await send(JSON.stringify({ title }));
    expect([response.status, ((await response.json()) as { title: string }).title]).toEqual([201, title]);
  });

  it.each([
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
    ['application/json; charset=latin1', 415],
    ['application/json, text/plain', 415],
    ['application/jsonp', 415],
    ['Application/JSON; Charset=UTF-8', 201],
    ['application/merge-patch+json', 201],
  ])('as %s get %i', async (type, status) => {
    expect((await send('{"title":"A"}', { 'Content-Type': type })).status).toBe(status);
  });

  it('without a type, or compressed, are refused', async () => {
    const shelf = openShelf();
    const untyped = new Uint8Array(Buffer.from('{"title":"A"}'));
    expect((await shelf.call('/v1/books', { method: 'POST', as: 'ann', body: untyped })).status).toBe(415);
    expect((await send('{"title":"A"}', { 'Content-Encoding': 'gzip' })).status).toBe(415);
  });

  it('are refused where none is expected', async () => {
    const { call } = openShelf();
    expect(await codeOf(await call('/v1/fail/error', { method: 'POST', body: 'x' }))).toEqual([
      400,
      'http.body_refused',
    ]);
  });
});

describe('large and slow bodies', () => {
  it('are refused by their announced length, unread', async () => {
    let reads = 0;
    const body = new ReadableStream({ pull: () => void reads++ }, { highWaterMark: 0 });
    const response = await send(body, { 'Content-Length': '300000' });
    expect(await codeOf(response)).toEqual([413, 'http.body_too_large']);
    expect(response.headers.get('connection')).toBe('close');
    expect(reads).toBe(0);
  });

  it('are refused as soon as they are too long, and not read to the end', async () => {
    let sent = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1000;
        controller.enqueue(new Uint8Array(1000).fill(0x20));
      },
      cancel() {
        isCancelled = true;
      },
    });
    expect(await codeOf(await send(body))).toEqual([413, 'http.body_too_large']);
    expect(sent).toBeLessThan(256 * 1024 + 5000);
    expect(isCancelled).toBe(true);
  });

  it('are refused even if they announced less', async () => {
    expect((await send(' '.repeat(300_000), { 'Content-Length': '10' })).status).toBe(413);
  });

  it('have the limit of their route', async () => {
    const { call } = openShelf();
    const status = async (size: number) =>
      (
        await call('/hooks/a', {
          method: 'POST',
          body: 'x'.repeat(size),
          headers: { 'X-Signature': `signed ${size}` },
        })
      ).status;
    expect([await status(1000), await status(1001)]).toEqual([200, 413]);
  });

  it('time out when they trickle', async () => {
    const shelf = openShelf();
    const response = send(new ReadableStream(), {}, shelf);
    while (shelf.clock.sleepers() === 0) await new Promise(setImmediate);
    await shelf.clock.advance(15_000);
    expect(await codeOf(await response)).toEqual([408, 'http.body_too_slow']);
    expect(shelf.clock.sleepers()).toBe(0);
  });

  it('that break off are the sender’s fault', async () => {
    const { lines, ...shelf } = openShelf();
    const body = new ReadableStream({ pull: controller => controller.error(new Error('reset')) });
    expect(await codeOf(await send(body, {}, { lines, ...shelf }))).toEqual([400, 'http.body_refused']);
    expect(lines).toEqual([]);
  });
});

describe('any input', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('__proto__', 'constructor', '..', '%', '\\0'),
  );

  it('as a body gets a response, never a failure', async () => {
    const shelf = openShelf({ rateLimits: undefined });
    const fields = fc.dictionary(
      fc.oneof(text, fc.constantFrom('title', 'tags', 'name')),
      fc.jsonValue({ depthSize: 'medium' }),
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(fields, fc.jsonValue()), async body => {
        expect((await send(JSON.stringify(body), {}, shelf)).status).toBeLessThan(500);
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 50 }), async bytes => {
        expect((await send(new Uint8Array(bytes), {}, shelf)).status).toBe(400);
      }),
    );
    expect(shelf.lines).toEqual([]);
  });

  it('as a path or a query gets a response, never a failure', async () => {
    const shelf = openShelf({ rateLimits: undefined });
    await fc.assert(
      fc.asyncProperty(text, text, text, async (id, name, value) => {
        const [path, ...query] = [id, name, value].map(part => encodeURIComponent(part.toWellFormed()));
        const response = await shelf.call(`/v1/books/${path}?${query.join('=')}`, { as: 'ann' });
        expect([400, 401, 404]).toContain(response.status === 200 ? 404 : response.status);
        expect((await shelf.call(`/v1/books?${query.join('=')}`, { as: 'ann' })).status).toBeLessThan(500);
      }),
    );
    expect(shelf.lines).toEqual([]);
  });
});

describe('headers that a route declares', () => {
  it('are validated and the others ignored', async () => {
    const spec = route({
      method: 'get',
      path: '/echo',
      reaches: 'nothing',
      audit: false,
      stores: 'nothing',
      tenant: 'none',
      mcp: false,
      auth: 'public',
      summary: 'Echo',
      request: { headers: z.strictObject({ 'X-Level': z.coerce.number().int().max(3) }) },
      responses: { 200: json(z.int()) },
    });
    const { call } = openShelf({
      more: [endpoint(spec, c => c.json(c.req.valid('header')['X-Level'], 200))],
    });
    expect(await (await call('/echo', { headers: { 'x-level': '2', other: '1' } })).json()).toBe(2);
    const bad = (await (await call('/echo', { headers: { 'x-level': '4' } })).json()) as Problem;
    expect(bad.errors?.[0]).toMatchObject({ in: 'header', pointer: '#/X-Level' });
  });
});
