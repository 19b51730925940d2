import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileFilter } from './filter.ts';
import { type HookRequest, viewRequest } from './request-view.ts';
import { type FilterNode, type Filters, filtersSchema, operators, type Rule } from './schema.ts';

const request = (change: Partial<HookRequest> = {}): HookRequest => ({
  method: 'POST',
  headers: [
    ['X-GitHub-Event', 'push'],
    ['X-Count', '42'],
    ['x-tag', 'one'],
    ['X-Tag', 'two'],
  ],
  query: 'env=prod&env=eu&n=7&flag',
  body: Buffer.from(
    JSON.stringify({
      type: 'invoice.paid',
      total: 250,
      live: true,
      note: null,
      tags: ['vip', 3],
      lines: [
        { sku: 'a', n: 1 },
        { sku: 'b', n: 5 },
      ],
    }),
  ),
  ...change,
});
const run = (filters: unknown, change: Partial<HookRequest> = {}) =>
  compileFilter(filtersSchema.parse(filters))(viewRequest(request(change)), { trace: true });
const body = (path: string, operator: string, value?: unknown) => ({ field: 'body', path, operator, value });

describe('a rule', () => {
  it.each([
    [body('$.type', 'equals', 'invoice.paid'), true],
    [body('$.type', 'equals', 'invoice'), false],
    [body('$.total', 'equals', 250), true],
    [body('$.total', 'equals', '250'), false],
    [body('$.live', 'equals', true), true],
    [body('$.note', 'equals', null), true],
    [body('$.missing', 'equals', null), false],
    [body('$.type', 'not_equals', 'invoice.paid'), false],
    [body('$.missing', 'not_equals', 'x'), true],
    [body('$.type', 'contains', 'paid'), true],
    [body('$.tags', 'contains', 'vip'), true],
    [body('$.tags', 'contains', 3), true],
    [body('$.tags', 'contains', 'v'), false],
    [body('$.tags', 'not_contains', 'new'), true],
    [body('$.total', 'contains', 25), false],
    [body('$.note', 'exists'), true],
    [body('$.missing', 'exists'), false],
    [body('$.missing', 'not_exists'), true],
    [body('$.type', 'regex', '^invoice\\.'), true],
    [body('$.type', 'regex', '(?i)PAID$'), true],
    [body('$.total', 'regex', '250'), false],
    [body('$.total', 'gt', 249.5), true],
    [body('$.total', 'gt', 250), false],
    [body('$.total', 'gte', 250), true],
    [body('$.total', 'lt', 251), true],
    [body('$.total', 'lte', 249), false],
    [body('$.type', 'gt', 'a'), true],
    [body('$.type', 'gt', 1), false],
    [body('$.lines[*].n', 'gt', 4), true],
    [body("$.lines[?@.sku == 'a'].n", 'gt', 4), false],
    [body('$..sku', 'equals', 'b'), true],
    [body('$..sku', 'not_equals', 'b'), false],
    [{ field: 'header', name: 'x-github-EVENT', operator: 'equals', value: 'push' }, true],
    [{ field: 'header', name: 'x-tag', operator: 'equals', value: 'two' }, true],
    [{ field: 'header', name: 'x-count', operator: 'gte', value: 42 }, true],
    [{ field: 'header', name: 'x-count', operator: 'equals', value: 42 }, true],
    [{ field: 'header', name: 'x-none', operator: 'not_exists' }, true],
    [{ field: 'query', name: 'env', operator: 'equals', value: 'eu' }, true],
    [{ field: 'query', name: 'n', operator: 'lt', value: 10 }, true],
    [{ field: 'query', name: 'flag', operator: 'exists' }, true],
    [{ field: 'method', operator: 'equals', value: 'POST' }, true],
    [{ field: 'method', operator: 'regex', value: '^(GET|HEAD)$' }, false],
  ])('%j is %s', (rule, matched) => {
    const outcome = run([rule]);
    expect(outcome.matched).toBe(matched);
    expect(outcome.steps).toHaveLength(1);
  });

  it('reads a form like an object', () => {
    const form: Partial<HookRequest> = {
      headers: [['Content-Type', 'application/x-www-form-urlencoded; charset=utf-8']],
      body: Buffer.from('From=%2B15551234&NumMedia=2&Tag=a&Tag=b&__proto__=x'),
    };
    expect(run([body('$.From', 'equals', '+15551234'), body('$.NumMedia', 'gt', 1)], form).matched).toBe(
      true,
    );
    expect(run([body('$.Tag[*]', 'equals', 'b'), body("$['__proto__']", 'equals', 'x')], form).matched).toBe(
      true,
    );
  });
});

describe('groups', () => {
  const yes = body('$.live', 'exists');
  const no = body('$.missing', 'exists');

  it('combine, and the trace shows every rule at its depth', () => {
    const outcome = run([yes, { or: [no, { and: [yes, { not: no }] }] }]);
    expect(outcome.matched).toBe(true);
    expect(outcome.steps.map(step => [step.matched, step.depth])).toEqual([
      [true, 0],
      [false, 1],
      [true, 2],
      [false, 3],
    ]);
    expect(outcome.steps[1]).toEqual({
      rule: 'body $.missing exists',
      matched: false,
      why: 'There is no value',
      depth: 1,
    });
  });

  it('match everything if there are none', () => {
    expect(run([])).toEqual({ matched: true, steps: [] });
  });
});

describe('a body that is not JSON', () => {
  const garbage = [
    { body: Buffer.from('{"type":') },
    { body: Buffer.from([0xff, 0xfe]) },
    { body: Buffer.alloc(0) },
    { body: Buffer.from('<xml/>') },
  ];

  it.each(operators)('does not match %s, and not its negation either', operator => {
    const rule = body('$.type', operator, operator.endsWith('exists') ? undefined : 'x');
    for (const change of garbage) {
      for (const filters of [[rule], [{ not: rule }], [{ or: [rule, { not: rule }] }]])
        expect(run(filters, change).matched).toBe(false);
      expect(run([rule], change).steps[0]?.why).toMatch(/^The body is/);
    }
  });

  it('still matches by its readable parts', () => {
    const method = { field: 'method', operator: 'equals', value: 'POST' };
    expect(run([{ or: [body('$.a', 'exists'), method] }], garbage[0]).matched).toBe(true);
    expect(run([method, body('$.a', 'not_exists')], garbage[0]).matched).toBe(false);
  });
});

describe('evaluation', () => {
  const rule = fc
    .record({
      field: fc.constant('body'),
      path: fc.constantFrom('$.a', '$.b', '$..a', '$[*]'),
      operator: fc.constantFrom(...operators),
      value: fc.constantFrom('x', 'y'),
    })
    .map((one): Rule => {
      const { value, ...rest } = one;
      return (one.operator.endsWith('exists') ? rest : { ...rest, value }) as Rule;
    });
  const { node } = fc.letrec<{ node: FilterNode }>(tie => ({
    node: fc.oneof(
      { maxDepth: 2 },
      rule,
      fc.record({ and: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ or: fc.array(tie('node'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ not: tie('node') }),
    ),
  }));
  const filters: fc.Arbitrary<Filters> = fc.array(node, { maxLength: 3 });
  const text = fc.oneof(fc.string(), fc.json(), fc.constantFrom('{"a":"x"}', '{"b":"y","a":["x"]}', '{}'));

  it('never throws and has the same result with and without a trace', () => {
    fc.assert(
      fc.property(filters, text, (some, sent) => {
        const filter = compileFilter(some);
        const view = viewRequest(request({ body: Buffer.from(sent) }));
        expect(filter(view).matched).toBe(filter(view, { trace: true }).matched);
      }),
    );
  });

  it('of readable bodies is plain logic', () => {
    const holds = (one: FilterNode, sent: Partial<HookRequest>): boolean => {
      if ('and' in one) return one.and.every(inner => holds(inner, sent));
      if ('or' in one) return one.or.some(inner => holds(inner, sent));
      return 'not' in one ? !holds(one.not, sent) : compileFilter([one])(viewRequest(request(sent))).matched;
    };
    fc.assert(
      fc.property(filters, fc.json(), (some, sent) => {
        const change = { body: Buffer.from(sent) };
        expect(compileFilter(some)(viewRequest(request(change))).matched).toBe(
          some.every(one => holds(one, change)),
        );
      }),
    );
  });
});

describe('hostile input', () => {
  it.each([
    ['an evil regex', [body('$.t', 'regex', '(a+)+$')], `{"t":"${'a'.repeat(16_000)}!"}`],
    ['a long text for a regex', [body('$.t', 'regex', 'a')], `{"t":"${'b'.repeat(200_000)}"}`],
    ['a deep body', [body('$..a', 'exists')], `${'['.repeat(120_000)}${']'.repeat(120_000)}`],
    ['a wide body', Array(10).fill(body('$..*', 'equals', 'x')), `[${Array(120_000).fill(0).join(',')}]`],
  ])('%s ends quickly', (_, filters, sent) => {
    const before = process.cpuUsage();
    expect(run(filters, { body: Buffer.from(sent) }).matched).toBe(false);
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000); // microseconds; a few thousand when quiet
  });
});

describe('the schema', () => {
  const rule = body('$.a', 'exists');
  const nested = (depth: number): unknown => (depth === 0 ? rule : { and: [nested(depth - 1)] });

  it.each([
    ['an unknown field', [{ field: 'cookie', operator: 'exists' }]],
    ['an unknown operator', [body('$.a', 'matches', 'x')]],
    ['a body rule without a path', [{ field: 'body', operator: 'exists' }]],
    ['a body rule with a name', [{ ...rule, name: 'a' }]],
    ['a header rule without a name', [{ field: 'header', operator: 'exists' }]],
    ['a header rule with a path', [{ field: 'header', name: 'a', path: '$.a', operator: 'exists' }]],
    ['a method rule with a name', [{ field: 'method', name: 'a', operator: 'exists' }]],
    ['an extra member', [{ ...rule, extra: 1 }]],
    ['a missing value', [body('$.a', 'equals')]],
    ['a value too many', [body('$.a', 'exists', 1)]],
    ['an object to compare to', [body('$.a', 'equals', {})]],
    ['an order of booleans', [body('$.a', 'gt', true)]],
    ['a path that is none', [body('a', 'exists')]],
    ['a regex that is none', [body('$.a', 'regex', '(')]],
    ['a regex with look-ahead', [body('$.a', 'regex', '(?=a)')]],
    ['a regex with a back-reference', [body('$.a', 'regex', '(a)\\1')]],
    ['a regex that repeats repeats', [body('$.a', 'regex', '((a{1,30}){1,30}){1,30}')]],
    ['an empty group', [{ or: [] }]],
    ['a group of two kinds', [{ or: [rule], and: [rule] }]],
    ['groups too deep', [nested(4)]],
    ['too many rules', Array(51).fill(rule)],
    ['too many rules in groups', Array(26).fill({ or: [rule, rule] })],
    ['too many wide paths', Array(11).fill(body('$..a', 'exists'))],
    ['too many groups', Array(40).fill({ and: [{ or: [rule] }] })],
    ['too many regexes', Array(6).fill(body('$.a', 'regex', 'a'))],
    ['no array', rule],
  ])('refuses %s', (_, filters) => {
    expect(filtersSchema.safeParse(filters).success).toBe(false);
  });

  it.each<[string, () => unknown]>([
    ['regexes', () => body('$.a', 'regex', 'a{1000}b{1000}c{1000}d{1000}')],
    ['rules', () => body("$['a','b']", 'equals', 'x')],
    ['empty groups', () => ({ and: [] })],
  ])('counts %s before it compiles any', (_, one) => {
    const filters = Array.from({ length: 15 }, () => ({ or: Array.from({ length: 50 }, one) }));
    const before = process.cpuUsage();
    const { success, error } = filtersSchema.safeParse(filters);
    expect(process.cpuUsage(before).user).toBeLessThan(500_000); // microseconds: two minutes if they are compiled
    expect([success, error?.issues]).toEqual([
      false,
      [expect.objectContaining({ message: expect.stringMatching(/^has more than/) })],
    ]);
  });

  it('accepts groups of the maximum depth, and a document without filters', () => {
    expect(filtersSchema.safeParse([nested(3)]).success).toBe(true);
    expect(filtersSchema.parse(JSON.parse('[]'))).toEqual([]);
  });
});
