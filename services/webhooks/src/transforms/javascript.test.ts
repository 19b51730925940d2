import { systemClock } from '@stak/kit';
import { createSandbox, type Sandbox } from '@stak/sandbox';
import fc from 'fast-check';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { type HookRequest, viewRequest } from '../filters/request-view.ts';
import { runScript } from './script.ts';

const sandbox = createSandbox({ clock: systemClock });
const hurried = createSandbox({ clock: systemClock });
afterAll(() => Promise.all([sandbox.close(), hurried.close()]));

const request = (change: Partial<HookRequest> = {}): HookRequest => ({
  method: 'POST',
  headers: [
    ['Content-Type', 'application/json'],
    ['X-Tag', 'a'],
    ['x-tag', 'b'],
  ],
  query: 'a=1&a=2&b=',
  body: Buffer.from('{"id":7,"items":[1,2]}'),
  ...change,
});
// With time enough on any machine, so that what fails does so for its own reason.
const runIn = (
  one: Sandbox,
  code: string,
  account = 'one',
  scriptMs = 20_000,
  change: Partial<HookRequest> = {},
) => runScript(one, { code, view: viewRequest(request(change)), account }, scriptMs);
const run = (code: string, change: Partial<HookRequest> = {}) => runIn(sandbox, code, 'one', 20_000, change);
const returning = (expression: string) => `const transform = event => (${expression});`;
const textOf = async (outcome: ReturnType<typeof run>) => {
  const result = await outcome;
  if (!result.ok || result.dropped) throw new Error(JSON.stringify(result));
  return Buffer.from(result.body).toString();
};

describe('a script', () => {
  it('gets the event and returns a body, as JSON or as text', async () => {
    expect(await run(returning('{ body: { n: event.body.id + 1, event } }'))).toMatchObject({
      ok: true,
      dropped: false,
      contentType: 'application/json',
    });
    expect(JSON.parse(await textOf(run(returning('{ body: event }'))))).toEqual({
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tag': 'a, b' },
      query: { a: '1, 2', b: '' },
      body: { id: 7, items: [1, 2] },
    });
    const text = await run(
      'function transform(event) { return { body: "id=" + event.body.id, headers: { "X-A": "b" } } }',
    );
    expect(text).toEqual({ ok: true, dropped: false, body: Buffer.from('id=7'), headers: [['X-A', 'b']] });
  });

  it('gets a body that is parsed in the sandbox, not by the thread that serves', async () => {
    const view = viewRequest(request());
    const unparsed = {
      ...view,
      json: () => {
        throw new Error('parsed here');
      },
    };
    const code = returning('{ body: event.body.id + 1 }');
    expect(await textOf(runScript(sandbox, { code, view: unparsed, account: 'one' }, 20_000))).toBe('8');
  });

  it('sets the content type of its result, if that is valid', async () => {
    const typed = (body: string, type: string) =>
      run(returning(`{ body: ${body}, headers: { 'Content-Type': '${type}' } }`));
    expect(await typed('"<a/>"', 'text/xml')).toMatchObject({ contentType: 'text/xml' });
    expect(await typed('{}', 'application/vnd.api+json')).toMatchObject({
      contentType: 'application/vnd.api+json',
    });
    expect(await typed('{}', 'application/x-www-form-urlencoded')).toMatchObject({
      contentType: 'application/json',
    });
  });

  it('may await, and may drop the event', async () => {
    expect(
      await textOf(run('async function transform(e) { await null; return { body: [e.body.id] } }')),
    ).toBe('[7]');
    expect(await run(returning('null'))).toEqual({ ok: true, dropped: true });
    expect(await run('function transform() {}')).toEqual({ ok: true, dropped: true });
  });

  it('gets text and binary bodies, and can pass them on', async () => {
    expect(await textOf(run(returning('event'), { headers: [], body: Buffer.from('<a/>') }))).toBe('<a/>');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1 }), async bytes => {
        const body = Buffer.concat([Buffer.from([0xff]), bytes]);
        expect(await run(returning('event'), { headers: [], body })).toMatchObject({ ok: true, body });
      }),
      { numRuns: 10 },
    );
  });

  it('keeps no state between runs', async () => {
    const code =
      'globalThis.seen = (globalThis.seen ?? 0) + 1; JSON.parse.count = seen; const transform = () => ({ body: seen });';
    expect([await textOf(run(code)), await textOf(run(code))]).toEqual(['1', '1']);
  });
});

describe('a script that', () => {
  it.each([
    ['does not compile', 'function transform( {', 'invalid'],
    ['defines nothing', 'const other = 1', 'invalid'],
    ['defines no function', 'const transform = 1', 'invalid'],
    ['throws while it is read', 'throw new TypeError("early")', 'invalid'],
    ['throws', 'function transform() { throw new TypeError("late") }', 'threw'],
    ['throws text', 'function transform() { throw "late" }', 'threw'],
    ['throws null', 'function transform() { throw null }', 'threw'],
    [
      'throws a trap',
      'function transform() { throw { get name() { throw 1 }, get message() { throw 2 } } }',
      'threw',
    ],
    ['parses text that is not JSON', 'function transform() { JSON.parse("{") }', 'threw'],
    ['rejects', 'async function transform() { throw new Error("late") }', 'threw'],
    ['answers a cycle', 'const transform = () => { const a = []; a.push(a); return { body: a } }', 'threw'],
    ['doubles a text', 'function transform() { let s = "ab"; for (;;) s += s; }', 'threw'],
    [
      'hoards small buffers',
      'function transform() { const a = []; for (;;) a.push(new Uint8Array(1e6)); }',
      'memory_limit',
    ],
    [
      'hoards texts',
      'function transform() { const a = []; for (;;) a.push("x".repeat(1e6) + a.length); }',
      'memory_limit',
    ],
    [
      'asks for a huge buffer',
      'const transform = () => ({ body: new ArrayBuffer(1e9).byteLength })',
      'memory_limit',
    ],
    ['recurses', 'function transform() { return transform() + 1 }', 'stack_limit'],
    [
      'recurses through a proxy',
      'const transform = () => { const p = new Proxy({}, { get: (t, k) => p[k] }); return p.x; }',
      'stack_limit',
    ],
    ['nests its source', `eval('('.repeat(50000))`, 'stack_limit'],
    ['never settles', 'const transform = () => new Promise(() => {})', 'never_settles'],
    ['answers a number', returning('7'), 'output_invalid'],
    ['answers an object without a body', returning('{ id: 1 }'), 'output_invalid'],
    ['answers a body by inheritance', returning('Object.create({ body: 1 })'), 'output_invalid'],
    ['answers bad headers', returning('{ body: 1, headers: { "a b": "c" } }'), 'output_invalid'],
    ['splits headers', returning('{ body: 1, headers: { a: "b\\r\\nc: d" } }'), 'output_invalid'],
    ['answers headers that are no texts', returning('{ body: 1, headers: [1] }'), 'output_invalid'],
    [
      'answers endless headers',
      returning('{ body: 1, headers: { a: "b".repeat(10000) } }'),
      'output_too_large',
    ],
    ['answers too much', returning('{ body: "a".repeat(600000) }'), 'output_too_large'],
    ['answers too many bytes', returning('{ body: "€".repeat(200000) }'), 'output_too_large'],
  ])('%s fails, the same each time, and the next one runs', async (_, code, reason) => {
    const outcome = await run(code);
    expect(outcome).toMatchObject({ ok: false, reason });
    expect(await run(code)).toEqual(outcome);
    expect(await textOf(run(returning('{ body: 1 }')))).toBe('1');
  });

  it.each([
    ['loops', 'function transform() { for (;;); }'],
    ['loops while it is read', 'for (;;);'],
    ['loops and catches', 'function transform() { for (;;) try { for (;;); } catch {} }'],
    ['loops through promises', 'async function transform() { for (;;) await null }'],
    ['loops in a getter of its answer', 'const transform = () => ({ get body() { for (;;); } })'],
    ['loops in toJSON', 'const transform = () => ({ body: { toJSON() { for (;;); } } })'],
    ['backtracks', 'const transform = () => ({ body: /^(a+)+$/.test("a".repeat(40) + "!") })'],
  ])('%s is stopped in time', async (_, code) => {
    const outcome = await runIn(hurried, code, 'one', 100);
    expect(outcome).toEqual({ ok: false, reason: 'time_limit', message: 'The script took too long' });
  });

  it('gets or returns a body nested deeper than its stack fails', async () => {
    const body = Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(await run(returning('event'), { body })).toMatchObject({ ok: false, reason: 'stack_limit' });
    const nest =
      'const transform = () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return { body: a } }';
    const outcome = await runIn(hurried, nest, 'one', 100);
    expect(outcome).toMatchObject({ ok: false });
  });
});

describe('the sandbox', () => {
  it.each([
    'process',
    'require',
    'module',
    'Buffer',
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'Worker',
    'WebAssembly',
    'setTimeout',
    'setInterval',
    'queueMicrotask',
    'console',
    'std',
    'os',
    'performance',
    'SharedArrayBuffer && Atomics.wait',
    'globalThis.constructor.constructor("return this.process")()',
    'event.constructor.constructor("return process")()',
    'new Error().stack.constructor.constructor("return process")()',
  ])('has no %s', async expression => {
    const code = `function transform(event) { let found; try { found = ${expression} } catch {} return { body: typeof found } }`;
    expect(await textOf(run(code))).toBe('undefined');
  });

  it('imports nothing', async () => {
    expect(await run('import fs from "node:fs"; const transform = () => null;')).toMatchObject({
      reason: 'invalid',
    });
    expect(await run('const transform = () => import("node:fs")')).toMatchObject({
      ok: false,
      reason: 'threw',
    });
  });

  it('reads the result with its own functions, whatever a script redefines', async () => {
    const games = [
      'JSON.stringify = () => "{}"',
      'Object.prototype.body = "inherited"',
      'Object.prototype.toJSON = function () { return 1 }',
      'Object.hasOwn = () => true',
      'Array.prototype.push = () => { throw 1 }',
      'Object.prototype.__proto__ = null',
      'globalThis.JSON = undefined; delete globalThis.Object',
      'Object.defineProperty(Object.prototype, "reason", { value: "crashed" })',
      'Promise.prototype.then = () => { throw 1 }',
    ];
    for (const game of games) {
      const outcome = await run(`try { ${game} } catch {}\nvar transform = () => ({ body: "fine" });`);
      expect(outcome).toMatchObject({ ok: true, body: Buffer.from('fine') });
    }
    expect(Object.prototype).not.toHaveProperty('body');
  });
});

describe('a hung script', () => {
  it('is ended, and delays only its own account', async () => {
    const stuck = runIn(hurried, 'for (;;);', 'bad', 100);
    expect(await runIn(hurried, returning('{ body: 1 }'), 'good')).toMatchObject({ ok: true });
    expect(await stuck).toMatchObject({ ok: false, reason: 'time_limit' });
    expect(await runIn(hurried, returning('{ body: 1 }'), 'bad')).toMatchObject({ ok: true });
  });

  it('replaces a thread whose memory is used up', async () => {
    const hungry = 'const transform = () => { const a = []; for (;;) a.push(new Uint8Array(1e5)); }';
    const own = createSandbox({ clock: systemClock });
    onTestFinished(() => own.close());
    expect(await runIn(own, hungry, 'a')).toMatchObject({ reason: 'memory_limit' });
    expect(own.threads()).toBe(0);
    expect(await runIn(own, returning('{ body: 1 }'), 'a')).toMatchObject({ ok: true });
  });
});
