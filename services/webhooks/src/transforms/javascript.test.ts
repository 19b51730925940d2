import { setImmediate } from 'node:timers/promises';
import { type Clock, manualClock } from '@stak/kit';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { type HookRequest, viewRequest } from '../filters/request-view.ts';
import * as limits from './limits.ts';
import { createTransforms } from './transforms.ts';

// One with time enough on any machine, so that what fails does so for its own reason, and one without.
const transforms = createTransforms({ scriptMs: 20_000 });
const hurried = createTransforms({ scriptMs: 100 });
afterAll(() => Promise.all([transforms.close(), hurried.close()]));

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
const run = (code: string, change: Partial<HookRequest> = {}, lane = 'one') =>
  transforms.run({ type: 'javascript', code }, viewRequest(request(change)), lane);
const returning = (expression: string) => `const transform = event => (${expression});`;
const textOf = async (outcome: ReturnType<typeof run>) => {
  const result = await outcome;
  if (!result.ok || result.dropped) throw new Error(JSON.stringify(result));
  return Buffer.from(result.body).toString();
};

describe('a script', () => {
  it('sees the event and returns a body, as JSON or as text', async () => {
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

  it('says of what type its answer is, unless that is wrong', async () => {
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

  it('gets text and bytes that are no JSON, and can pass them on', async () => {
    expect(await textOf(run(returning('event'), { headers: [], body: Buffer.from('<a/>') }))).toBe('<a/>');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1 }), async bytes => {
        const body = Buffer.concat([Buffer.from([0xff]), bytes]);
        expect(await run(returning('event'), { headers: [], body })).toMatchObject({ ok: true, body });
      }),
      { numRuns: 10 },
    );
  });

  it('keeps nothing from one run to the next', async () => {
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
    ['parses what is no JSON', 'function transform() { JSON.parse("{") }', 'threw'],
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
    const outcome = await hurried.run({ type: 'javascript', code }, viewRequest(request()), 'one');
    expect(outcome).toEqual({ ok: false, reason: 'time_limit', message: 'The script took too long' });
  });

  it('gets a body nested deeper than its stack, or answers one, fails', async () => {
    const body = Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(await run(returning('event'), { body })).toMatchObject({ ok: false, reason: 'stack_limit' });
    const nest =
      'const transform = () => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return { body: a } }';
    const outcome = await hurried.run({ type: 'javascript', code: nest }, viewRequest(request()), 'one');
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
  ])('holds no %s', async expression => {
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

  it('reads its answer with its own functions, whatever a script redefines', async () => {
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
  // With this clock the interpreter's own limit is far away, so that only ending the thread can help.
  it('is ended with its thread, and delays only its own lane', async () => {
    const clock = manualClock();
    const scriptMs = 60_000;
    let underWay = 0;
    const sleep: Clock['sleep'] = (ms, signal) => {
      if (ms !== scriptMs + limits.graceMs) return clock.sleep(ms, signal);
      underWay += 1;
      return clock.sleep(ms, signal).finally(() => {
        underWay -= 1;
      });
    };
    const pool = createTransforms({ clock: { ...clock, sleep }, scriptMs, threads: 2 });
    const view = viewRequest(request());
    const hang = { type: 'javascript', code: 'for (;;);' } as const;
    const quick = { type: 'javascript', code: returning('{ body: 1 }') } as const;
    const stuck = [pool.run(hang, view, 'bad'), pool.run(hang, view, 'bad')];
    for (let n = 0; n < 5; n += 1) expect(await pool.run(quick, view, 'good')).toMatchObject({ ok: true });
    for (const one of stuck) {
      // Time stands still while a thread starts: it has a limit of its own for that.
      while (underWay === 0) await setImmediate();
      await clock.advance(scriptMs + limits.graceMs);
      expect(await one).toMatchObject({ ok: false, reason: 'time_limit' });
    }
    expect(await pool.run(quick, view, 'bad')).toMatchObject({ ok: true });
    await pool.close();
  });

  it('does not survive closing', async () => {
    const pool = createTransforms({ scriptMs: 60_000 });
    const stuck = ['a', 'b', 'c'].map(lane =>
      pool.run({ type: 'javascript', code: 'for (;;);' }, viewRequest(request()), lane),
    );
    await pool.close();
    for (const one of stuck) expect(await one).toMatchObject({ ok: false });
    const late = await pool.run({ type: 'javascript', code: '1' }, viewRequest(request()), 'a');
    expect(late).toMatchObject({ ok: false, reason: 'busy' });
  });
});
