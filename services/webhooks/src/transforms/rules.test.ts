import { systemClock } from '@stak/kit';
import { createSandbox, type Job } from '@stak/sandbox';
import { afterAll, describe, expect, it } from 'vitest';
import type { HookRequest } from '../filters/request-view.ts';
import type { Connection } from '../main-table.ts';
import { createRules, type RulesOptions } from './rules.ts';
import { transformSchema } from './schema.ts';

const sandbox = createSandbox({ clock: systemClock });
afterAll(() => sandbox.close());
let jobs: Job[] = [];
const rules = createRules({
  run: (job, account) => {
    jobs.push(job);
    return sandbox.run(job, account);
  },
});

const connection = (filters: unknown, transform: unknown = { type: 'passthrough' }): Connection =>
  ({
    userId: 'usr_ann',
    filters: JSON.stringify(filters),
    transform: JSON.stringify(transform),
  }) as Connection;
const request = (value: unknown): HookRequest => ({
  method: 'POST',
  headers: [['content-type', 'application/json']],
  query: '',
  body: Buffer.from(JSON.stringify(value)),
});
const run = async (one: Connection, sent: HookRequest, wanted: RulesOptions = { filter: true }) => {
  jobs = [];
  const before = process.cpuUsage();
  const outcome = rules.run(one, sent, wanted);
  const syncMs = process.cpuUsage(before).user / 1000; // of the processor, which others may have meanwhile
  return { outcome: await outcome, jobs: jobs.length, syncMs, cpuMs: process.cpuUsage(before).user / 1000 };
};
const textOf = (outcome: Awaited<ReturnType<typeof rules.run>>) => {
  if (!outcome.ok || !outcome.transformed?.ok || outcome.transformed.dropped)
    throw new Error(JSON.stringify(outcome));
  return Buffer.from(outcome.transformed.body).toString();
};

const body = (path: string, operator: string, value?: unknown) => ({ field: 'body', path, operator, value });
const fields = (...from: string[]) => ({
  type: 'field_map',
  fields: from.map((path, i) => ({ to: `$.f${i}`, from: path })),
});
const order = { id: 'o1', lines: [{ sku: 'a' }, { sku: 'b' }] };
const wide = Array.from({ length: 20_000 }, (_, i) => ({ a: i })); // 220 KB

describe('rules', () => {
  it.each([
    ['equality', [body('$.id', 'equals', 'o1')], undefined],
    ['a pattern', [body('$.id', 'regex', '^o\\d+$')], undefined],
    ['a wide path', [body('$.lines[*].sku', 'contains', 'b')], fields('$.id', '$..sku')],
    ['a template', [], { type: 'field_map', fields: [{ to: '$.a', template: 'order {{$.id}}' }] }],
  ])('that are cheap need no thread: %s', async (_, filters, transform) => {
    const { outcome, jobs: sent } = await run(connection(filters, transform), request(order));
    expect(outcome).toMatchObject({ ok: true, filter: { matched: true }, transformed: { ok: true } });
    expect(sent).toBe(0);
  });

  it('that do not read a body pass on a large one', async () => {
    const sent = request(wide);
    const { outcome, jobs: started } = await run(connection([{ field: 'method', operator: 'exists' }]), sent);
    expect(started).toBe(0);
    // Not by the matcher, which compares a large body value by value.
    if (!outcome.ok || !outcome.transformed?.ok || outcome.transformed.dropped) expect.unreachable();
    else expect(Buffer.compare(outcome.transformed.body, sent.body)).toBe(0);
  });

  it.each<[string, unknown[], unknown, unknown]>([
    ['paths over a large body', [body('$..a', 'equals', 19_999)], undefined, wide],
    [
      'paths over a small one',
      Array(10).fill(body('$..[?@.a > 1]', 'exists')),
      undefined,
      wide.slice(0, 1000),
    ],
    ['patterns over long texts', [body('$.t', 'regex', '[ab]{100}c')], undefined, { t: 'ab'.repeat(8_000) }],
    [
      'long texts that are looked for',
      Array(3).fill(body('$.t', 'not_contains', `ab${'a'.repeat(1000)}`)),
      undefined,
      { t: 'a'.repeat(60_000) },
    ],
    [
      'long templates',
      [],
      { type: 'field_map', fields: Array(5).fill({ to: '$.a', template: '{{$.t}}'.repeat(10) }) },
      { t: 'x'.repeat(50_000) },
    ],
    ['many rules', Array(50).fill(body(`$.${'a'.repeat(100)}`, 'not_exists')), undefined, order],
    [
      'a pattern stored before it was refused',
      [body('$.id', 'not_exists'), body('$.id', 'regex', '(?i)[B-\u{1e900}]')],
      undefined,
      order,
    ],
  ])(
    'that may be expensive are evaluated in the sandbox, to the same end: %s',
    async (_, filters, transform, sent) => {
      const one = connection(filters, transform);
      const { outcome, jobs: started, syncMs } = await run(one, request(sent), { filter: true, trace: true });
      expect(started).toBe(1);
      expect(syncMs).toBeLessThan(500); // one when quiet; seconds without a budget
      expect(outcome).toMatchObject({ ok: true, filter: { steps: filters.map(() => expect.anything()) } });
    },
  );

  it('that map a body give the same result in either thread', async () => {
    const transform = fields('$.id', '$.lines[*].sku', '$..sku');
    const light = textOf((await run(connection([], transform), request(order))).outcome);
    const heavy = textOf((await run(connection([], transform), request({ ...order, wide }))).outcome);
    expect(heavy).toBe(light);
    expect(JSON.parse(light)).toEqual({ f0: 'o1', f1: ['a', 'b'], f2: ['a', 'b'] });
  });

  // Ten connections held everybody up for half a minute with one event.
  it('that visit a large body fifty times do not block this thread', async () => {
    const stored = connection(
      [],
      fields(...Array(50).fill('$..[?@.a > 1 && @.a < 9 || @.b == 1 || @.c == 2]')),
    );
    const { outcome, syncMs } = await run(stored, request(wide));
    expect(syncMs).toBeLessThan(500);
    expect(outcome).toMatchObject({ ok: expect.any(Boolean) }); // done in time, or ended
    expect(transformSchema.safeParse(JSON.parse(stored.transform)).error?.issues).toMatchObject([
      { path: ['fields'], message: expect.stringContaining('paths that select several values') },
    ]);
  });

  it('that visit more than the sandbox allows are ended with a reason', async () => {
    const all = fields(...Array(50).fill('$..*'));
    const { outcome } = await run(connection([], all), request(Array(120_000).fill(0)));
    expect(outcome).toMatchObject({ ok: false, reason: expect.stringMatching(/^(time|memory)_limit$/) });
  });

  it('run a script only for matching events', async () => {
    const script = { type: 'javascript', code: 'const transform = event => ({ body: event.body.id })' };
    const match = await run(connection([body('$.id', 'exists')], script), request(order));
    expect(textOf(match.outcome)).toBe('o1');
    const miss = await run(connection([body('$.id', 'not_exists')], script), request(order));
    expect([miss.jobs, miss.outcome]).toEqual([0, { ok: true, filter: { matched: false, steps: [] } }]);
  });
});
