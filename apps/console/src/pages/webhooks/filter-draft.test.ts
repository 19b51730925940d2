import fc from 'fast-check';
import { expect, it } from 'vitest';
import { draftFilters, filtersOf, readValue } from './filter-draft.ts';

it('shows lists of rules, and leaves groups to JSON', () => {
  const rule = { field: 'body', path: '$.amount', operator: 'gte', value: 1000 } as const;
  expect(draftFilters([rule])).toEqual({
    match: 'all',
    rules: [{ field: 'body', path: '$.amount', operator: 'gte', value: '1000' }],
  });
  expect(draftFilters([{ or: [rule, rule] }])?.match).toBe('any');
  expect(draftFilters([{ not: rule }])).toBeUndefined();
  expect(draftFilters([rule, { or: [rule] }])).toBeUndefined();
});

it.each([
  ['42', 42],
  ['-1.5', -1.5],
  ['true', true],
  ['null', null],
  ['"42"', '42'],
  ['paid', 'paid'],
  ['4 apples', '4 apples'],
  ['', ''],
  ['"', '"'],
])('%s is parsed as %j', (text, value) => {
  expect(readValue(text)).toBe(value);
});

const rule = fc.oneof(
  fc.record({
    field: fc.constant('body' as const),
    path: fc.constantFrom('$.a', '$.items[0].id'),
    operator: fc.constantFrom('equals' as const, 'not_equals' as const, 'gt' as const),
    value: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
  }),
  fc.record({
    field: fc.constantFrom('header' as const, 'query' as const),
    name: fc.constantFrom('x-shop', 'type'),
    operator: fc.constant('exists' as const),
  }),
  fc.record({
    field: fc.constant('method' as const),
    operator: fc.constant('equals' as const),
    value: fc.constant('POST'),
  }),
);

it('round-trips the filters it was created from', () => {
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 5 }), fc.boolean(), (rules, isAny) => {
      const filters = isAny ? [{ or: rules }] : rules;
      expect(filtersOf(draftFilters(filters)!)).toEqual(filters);
    }),
  );
});
