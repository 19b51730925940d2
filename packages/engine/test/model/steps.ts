import fc from 'fast-check';
import type { AttributeValue } from '../../src/values/attribute-value.ts';
import type { Change, Condition, Key, Write } from './table-model.ts';

// Few keys and few values, so that writes meet each other.

export const startMs = 1_800_000_000_000;
const startSeconds = startMs / 1000;

export type Step =
  | { kind: 'write'; write: Write }
  | { kind: 'transact'; writes: Write[]; token?: string }
  | { kind: 'batch'; writes: Write[] }
  | { kind: 'together'; writes: Write[] }
  | { kind: 'rewrite'; nth: number }
  | { kind: 'advance'; ms: number }
  | { kind: 'sweep' };

const S = (value: string): AttributeValue => ({ S: value });
const N = (value: string): AttributeValue => ({ N: value });
const oneOf = (...values: AttributeValue[]) => fc.constantFrom(...values);

export const partitions = ['a', 'b', 'é'].map(S);
export const groups = ['x', 'x\0', 'y'].map(S);
export const kinds = ['-1', '0', '12345678901234567890'].map(N);

export const labels = ['\0', '\0\0', 'a', 'ab', '\uffff', '😀'].map(S);

const key: fc.Arbitrary<Key> = fc.record({
  pk: fc.constantFrom(...partitions),
  sk: oneOf(...['-10', '-1.5', '0', '2', '10', '1000000000000000000000'].map(N)),
}) as fc.Arbitrary<Key>;

const attributes = {
  group: oneOf(...groups),
  rank: oneOf(...['-5', '-0.5', '0', '3', '20'].map(N)),
  kind: oneOf(...kinds),
  label: oneOf(...labels),
  shown: oneOf(S('one'), S(''), { L: [N('1'), { M: { a: { BOOL: true } } }] }, { NULL: true }),
  hidden: oneOf(S('x'.repeat(300)), N('0.1'), { M: {} }),
  // Past, near, far, fractional, five years old, and what never expires.
  ttl: oneOf(
    ...[-10, 0, 5, 60, 100_000].map(offset => N(String(startSeconds + offset))),
    N(`${startSeconds + 3}.75`),
    N('1000'),
    N('-5'),
    N('1000000000000000000000'),
    S(String(startSeconds)),
  ),
};

const filling = fc.record(attributes, { requiredKeys: [] });
const item = fc.tuple(key, filling).map(([target, rest]) => ({ ...rest, ...target }));

const condition: fc.Arbitrary<Condition> = fc.oneof(
  fc.constantFrom('exists' as const, 'absent' as const),
  fc.record({ name: fc.constant('group'), equals: attributes.group }),
);
const maybe = { requiredKeys: [] };
const change: fc.Arbitrary<Change> = fc
  .record(
    {
      set: filling.filter(set => Object.keys(set).length > 0),
      remove: fc.uniqueArray(fc.constantFrom('group', 'rank', 'kind', 'label', 'shown', 'ttl'), {
        minLength: 1,
        maxLength: 3,
      }),
      add: fc.constantFrom('1', '-2.5', '0', '10000000000000000000000000'),
      tag: fc.record({ adds: fc.boolean(), name: fc.constantFrom('red', 'blue') }),
    },
    maybe,
  )
  .map(({ set, remove, add, tag }) => {
    // An expression may not name an attribute twice.
    const rest = remove?.filter(name => !(set && name in set)) ?? [];
    return {
      ...(set && { set }),
      ...(rest.length > 0 && { remove: rest }),
      ...(add !== undefined && { add }),
      ...(tag && (tag.adds ? { addTag: tag.name } : { dropTag: tag.name })),
    };
  })
  .filter(parts => Object.keys(parts).length > 0);

const rarely = fc.option(condition, { nil: undefined, freq: 3 });
const put = item.map(filled => ({ kind: 'put' as const, item: filled as never }));
const del = key.map(target => ({ kind: 'delete' as const, key: target }));
const update = fc
  .tuple(key, change)
  .map(([target, parts]) => ({ kind: 'update' as const, key: target, change: parts }));
const guarded = fc
  .tuple(
    fc.oneof({ arbitrary: put, weight: 3 }, { arbitrary: update, weight: 3 }, { arbitrary: del, weight: 1 }),
    rarely,
  )
  .map(([write, guard]): Write => (guard ? { ...write, condition: guard } : write));
const check = fc.record({ kind: fc.constant('check' as const), key, condition });

const targetOf = (write: Write): string => {
  const { pk, sk } = write.kind === 'put' ? write.item : write.key;
  return JSON.stringify([pk, sk]);
};
const several = (write: fc.Arbitrary<Write>) =>
  fc.uniqueArray(write, { minLength: 1, maxLength: 5, selector: targetOf });

export const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: guarded.map(write => ({ kind: 'write' as const, write })), weight: 8 },
  {
    arbitrary: fc.record(
      {
        kind: fc.constant('transact' as const),
        writes: several(fc.oneof({ arbitrary: guarded, weight: 4 }, { arbitrary: check, weight: 1 })),
        token: fc.constantFrom('t1', 't2'),
      },
      { requiredKeys: ['kind', 'writes'] },
    ),
    weight: 3,
  },
  {
    arbitrary: fc.record({ kind: fc.constant('batch' as const), writes: several(fc.oneof(put, del)) }),
    weight: 2,
  },
  // Several callers at once: they share a group commit.
  {
    arbitrary: fc.record({
      kind: fc.constant('together' as const),
      writes: fc.array(guarded, { minLength: 2, maxLength: 6 }),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 999, 5_000, 61_000, 11 * 60_000, 25 * 60 * 60_000),
    }),
    weight: 2,
  },
  // Writing an item again as it is leaves no trace.
  { arbitrary: fc.record({ kind: fc.constant('rewrite' as const), nth: fc.nat(20) }), weight: 1 },
  { arbitrary: fc.constant({ kind: 'sweep' as const }), weight: 2 },
);
