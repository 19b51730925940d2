import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { viewRequest } from '../filters/request-view.ts';
import { type Transform, transformSchema } from './schema.ts';
import { compileTransform } from './transform.ts';

const viewText = (text: string) =>
  viewRequest({ method: 'POST', headers: [], query: '', body: Buffer.from(text) });
const order = '{"id":"o1","customer":{"name":"Ada","age":36},"lines":[{"sku":"a"},{"sku":"b"}],"note":null}';

const apply = (transform: Transform, view: ReturnType<typeof viewText>) => {
  if (transform.type === 'javascript') throw new Error('needs a sandbox');
  return compileTransform(transform)(view);
};
const run = (fields: unknown, { keep, text = order }: { keep?: boolean; text?: string } = {}) =>
  apply(transformSchema.parse({ type: 'field_map', fields, keep }), viewText(text));
const map = async (fields: unknown, options?: { keep?: boolean; text?: string }): Promise<unknown> => {
  const outcome = await run(fields, options);
  if (!outcome.ok || outcome.dropped) throw new Error(JSON.stringify(outcome));
  expect(outcome.contentType).toBe('application/json');
  return JSON.parse(Buffer.from(outcome.body).toString());
};

describe('a field map', () => {
  it('places values, constants, defaults and texts', async () => {
    expect(
      await map([
        { to: '$.order.id', from: '$.id' },
        { to: '$.skus', from: '$.lines[*].sku' },
        { to: '$.first', from: '$.lines[0]' },
        { to: '$.note', from: '$.note', default: 'none' },
        { to: '$.missing', from: '$.nowhere' },
        { to: '$.currency', from: '$.currency', default: 'EUR' },
        { to: '$.tags', from: '$.tags[*]', default: null },
        { to: '$.source', value: 'shop' },
        { to: '$.list[1].n', value: 2 },
        {
          to: '$.title',
          template: 'Order {{$.id}} of {{ $.customer.name }} ({{$.customer.age}}){{$.note}}{{$.lines}}',
        },
      ]),
    ).toEqual({
      order: { id: 'o1' },
      skus: ['a', 'b'],
      first: { sku: 'a' },
      note: null,
      currency: 'EUR',
      tags: null,
      source: 'shop',
      list: [null, { n: 2 }],
      title: 'Order o1 of Ada (36)',
    });
  });

  it('may start from the received body, which stays unchanged for others', async () => {
    const view = viewText(order);
    const transform = transformSchema.parse({
      type: 'field_map',
      keep: true,
      fields: [
        { to: '$.customer.name', value: 'x' },
        { to: '$.lines[1].sku', value: 'y' },
        { to: '$.lines[1].n', value: 1 },
        { to: '$.id.inner', value: 'z' },
      ],
    });
    for (let time = 0; time < 2; time += 1) {
      const outcome = apply(transform, view);
      expect(outcome.ok && !outcome.dropped && JSON.parse(Buffer.from(outcome.body).toString())).toEqual({
        id: { inner: 'z' },
        customer: { name: 'x', age: 36 },
        lines: [{ sku: 'a' }, { sku: 'y', n: 1 }],
        note: null,
      });
    }
    expect(view.json()).toMatchObject({ value: JSON.parse(order) });
  });

  it('can replace the whole body', async () => {
    expect(await map([{ to: '$', from: '$.lines' }])).toEqual([{ sku: 'a' }, { sku: 'b' }]);
  });

  it('pollutes no prototype', async () => {
    const polluted = '{"__proto__":{"bad":1},"a":{"b":2}}';
    const fields = [
      { to: "$['__proto__'].bad", value: 1 },
      { to: '$.constructor.prototype.bad', value: 1 },
      { to: '$.a.__proto__.bad', value: 1 },
    ];
    for (const keep of [true, false]) {
      const output = JSON.stringify(await map(fields, { keep, text: polluted }));
      expect(output).toContain('"__proto__":{"bad":1}');
    }
    expect({}).not.toHaveProperty('bad');
  });

  it('copies any JSON unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 8 }), async text => {
        expect(await map([{ to: '$.copy', from: '$' }], { text })).toEqual({ copy: JSON.parse(text) });
      }),
    );
  });

  it.each(['', 'no json', '{"a":', '<xml/>'])('fails on a body without structure: %j', async text => {
    expect(await run([{ to: '$.a', from: '$.a' }], { text })).toMatchObject({
      ok: false,
      reason: 'not_json',
    });
  });

  it.each([
    [
      'copies too often',
      Array.from({ length: 50 }, (_, n) => ({ to: `$.c${n}`, from: '$' })),
      `["${'a'.repeat(200_000)}"]`,
    ],
    [
      'selects every part of a deep body',
      [{ to: '$.all', from: '$..*' }],
      `${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    ],
    ['selects every part of a nested body', [{ to: '$.all', from: '$..*' }], nest(90, 'x'.repeat(20_000))],
  ])('that %s is refused quickly', async (_, fields, text) => {
    const before = process.cpuUsage();
    expect(await run(fields, { text })).toMatchObject({ ok: false, reason: 'output_too_large' });
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000); // microseconds
  });
});

function nest(depth: number, inner: string): string {
  return `${'['.repeat(depth)}"${inner}"${']'.repeat(depth)}`;
}

describe('passthrough', () => {
  it('keeps every byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array(), async body => {
        const view = viewRequest({ method: 'POST', headers: [], query: '', body });
        expect(apply({ type: 'passthrough' }, view)).toEqual({
          ok: true,
          dropped: false,
          body,
        });
      }),
    );
  });
});

describe('the schema', () => {
  const field = { to: '$.a', from: '$.b' };
  it.each([
    { type: 'unknown' },
    { type: 'passthrough', code: '' },
    { type: 'javascript' },
    { type: 'javascript', code: '' },
    { type: 'javascript', code: 'x'.repeat(70_000) },
    { type: 'field_map', fields: [] },
    { type: 'field_map', fields: Array(51).fill(field) },
    { type: 'field_map', fields: [{ to: 'a', from: '$.b' }] },
    { type: 'field_map', fields: [{ to: '$..a', from: '$.b' }] },
    { type: 'field_map', fields: [{ to: '$.a[100]', from: '$.b' }] },
    { type: 'field_map', fields: [{ to: '$.a', from: 'b' }] },
    { type: 'field_map', fields: [{ to: '$.a' }] },
    { type: 'field_map', fields: [{ to: '$.a', from: '$.b', value: 1 }] },
    { type: 'field_map', fields: [{ to: '$.a', value: {} }] },
    { type: 'field_map', fields: [{ to: '$.a', template: '{{$.[}}' }] },
    { type: 'field_map', fields: [{ to: '$.a', template: '{{$.a}}'.repeat(11) }] },
  ])('refuses %j', transform => {
    expect(transformSchema.safeParse(transform).success).toBe(false);
  });

  it.each([
    ['{{$'.repeat(100) + ' '.repeat(700), 'open braces and spaces'],
    ['{{ '.repeat(300), 'braces without a path'],
    [`${'{'.repeat(500)}${' '.repeat(400)}$`, 'braces in a row'],
  ])('reads a template of %# in one pass', template => {
    const transform = { type: 'field_map', fields: Array(50).fill({ to: '$.a', template }) };
    const before = process.cpuUsage();
    expect(transformSchema.safeParse(transform).success).toBe(true); // braces that hold no path are text
    expect(process.cpuUsage(before).user).toBeLessThan(500_000); // microseconds; 18 seconds by going back and forth
  });
});
