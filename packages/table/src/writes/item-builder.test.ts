import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AnyEntity, entity } from '../design/entity.ts';
import { defineKeys } from '../design/table.ts';
import { builderOf } from './item-builder.ts';
import { storedItem } from './params.ts';

const keys = defineKeys({
  name: 'notes',
  keys: { partition: 'PK', sort: 'SK' },
  indexes: { GSI1: { partition: 'G1' }, GSI2: { partition: 'G2', sort: 'G2S' }, GSI3: { partition: 'G1' } },
  ttl: 'expiresAt',
});

const fields = z.object({
  userId: z.string(),
  number: z.int().min(0),
  text: z.string().max(5).optional(),
  category: z.string().optional(),
  dueAt: z.int().optional(),
  trimmed: z.string().trim().default('none'),
  nullable: z.string().nullable(),
  tags: z.array(z.string()).optional(),
  bytes: z.custom<Uint8Array>(value => value instanceof Uint8Array).optional(),
  kind: z.string(),
  version: z.int(),
  expiresAt: z.int().optional(),
});

const define = (schema: typeof fields, sharesAttribute = false): AnyEntity =>
  entity(keys, {
    name: 'note',
    kind: 'note',
    schema,
    key: { partition: 'USER#{userId:text}', sort: 'NOTE#{number:4}' },
    indexes: {
      GSI1: { partition: 'CATEGORY#{category}' },
      GSI2: { partition: 'DUE', sort: '{dueAt:6}#{userId:text}' },
      ...(sharesAttribute && { GSI3: { partition: 'ALL' } }),
    } as never,
    version: 'version',
    inKeyOnly: ['number'],
  }) as unknown as AnyEntity;

const outcome = (made: AnyEntity, input: object, ifVersion: number | undefined): unknown => {
  try {
    return storedItem(made, input, { ifVersion });
  } catch (error) {
    return error;
  }
};

// What is not there, and what is undefined, are stored alike.
const present = (item: unknown): unknown =>
  item instanceof Error
    ? item.message
    : Object.fromEntries(Object.entries(item as object).filter(([, one]) => one !== undefined));

describe('the builder of an entity', () => {
  const usual = { userId: 'ann', number: 7, nullable: null };

  it('makes the item that Zod and the templates make', () => {
    const built = define(fields);
    // Only Zod knows rules over a whole item.
    const parsed = define(fields.refine(() => true));
    const values: Record<string, fc.Arbitrary<unknown>> = {
      userId: fc.constantFrom('ann', 'a#b', '', 'é', '\ud800', 'x'.repeat(3000), 7),
      number: fc.constantFrom<unknown>(0, 9999, 10_000, -1, 1.5, '7'),
      text: fc.constantFrom<unknown>('a', 'abcdef', undefined, null),
      category: fc.constantFrom<unknown>('home', 'a#b', '', undefined, null),
      dueAt: fc.constantFrom<unknown>(5, 1_000_000, undefined),
      trimmed: fc.constantFrom<unknown>(' a ', 'a', undefined, 1),
      nullable: fc.constantFrom<unknown>(null, 'a', undefined),
      tags: fc.constantFrom<unknown>(['a'], [1], undefined),
      bytes: fc.constantFrom<unknown>(new Uint8Array([1]), 'a', undefined),
      kind: fc.constantFrom<unknown>('note', 'other', undefined),
      version: fc.constantFrom<unknown>(4, 'a', undefined),
      expiresAt: fc.constantFrom<unknown>(100, undefined),
      more: fc.constant(1),
      ['__proto__']: fc.constant({ polluted: true }),
    };
    let made = 0;
    fc.assert(
      fc.property(
        fc.record(values, { requiredKeys: [] }),
        fc.option(fc.nat(5), { nil: undefined }),
        fc.boolean(),
        (changed, ifVersion, isUsual) => {
          const input = isUsual ? { ...changed, ...usual } : { ...usual, ...changed };
          const item = outcome(built, input, ifVersion);
          expect(present(item)).toStrictEqual(present(outcome(parsed, input, ifVersion)));
          if (!(item instanceof Error)) made += 1;
        },
      ),
      { numRuns: process.env.STAK_LONG_TESTS ? 3000 : 800 },
    );
    expect(made).toBeGreaterThan(8);
  });

  it('leaves to Zod what only Zod knows, and an attribute that is the key of two indexes', () => {
    const input = { ...usual, kind: 'note' };
    expect(builderOf(define(fields))(input, undefined)).toMatchObject({
      PK: 'USER#ann',
      SK: 'NOTE#0007',
      version: 1,
    });
    expect(builderOf(define(fields.refine(() => true)))(input, undefined)).toBeUndefined();
    const shared = define(fields, true);
    expect(builderOf(shared)(input, undefined)).toBeUndefined();
    expect(storedItem(shared, { ...input, category: 'home' }, {})).toMatchObject({ G1: 'ALL' });
  });
});
