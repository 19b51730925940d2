import { describe, expect, it } from 'vitest';
import { type ZodType, z } from 'zod';
import { boundedRecord } from '../input/bounded-record.ts';
import { checkBounded, checkStrict } from './strict-schema.ts';

const loose = z.object({ a: z.int() });
type Tree = { children: Tree[] };
const tree: ZodType<Tree> = z.lazy(() => z.strictObject({ children: z.array(tree) }));

describe('a schema', () => {
  it.each<[string, ZodType, string[]]>([
    ['an object', loose, ['#']],
    ['a field', z.strictObject({ b: loose.optional() }), ['#/b']],
    ['an item', z.array(loose.nullable()), ['#/*']],
    ['a value', z.record(z.string(), loose.default({ a: 1 })), ['#/*']],
    ['a choice', z.union([z.string(), loose]), ['#']],
    ['a tuple', z.tuple([z.int(), loose], loose), ['#/*']],
    ['both sides', z.intersection(loose, z.object({})), ['#', '#']],
    ['what is transformed', loose.transform(String), ['#']],
    ['what is prepared', z.preprocess(value => value, loose), ['#']],
    ['what is deferred', z.strictObject({ c: z.lazy(() => loose) }), ['#/c']],
  ])('drops fields in %s', (_, schema, paths) => {
    expect(checkStrict(schema)).toEqual(paths);
  });

  it.each<[string, ZodType]>([
    ['is strict', z.strictObject({ a: z.array(z.strictObject({})) })],
    ['wants unknown fields', z.looseObject({})],
    ['says what they are', z.object({}).catchall(z.string())],
    ['contains itself', tree],
    ['is not an object', z.union([z.string(), z.array(z.int())])],
  ])('that %s drops none', (_, schema) => {
    expect(checkStrict(schema)).toEqual([]);
  });

  it.each<[string, ZodType, string[]]>([
    ['keys that may be invalid', z.record(z.string().max(9), z.unknown()).optional(), ['#']],
    ['values that may be invalid', z.array(z.record(z.string(), z.int())), ['#/*']],
  ])('takes any number of %s', (_, schema, paths) => {
    expect(checkBounded(schema)).toEqual(paths);
  });

  it.each<[string, ZodType]>([
    ['records with a limit', boundedRecord(z.string(), z.int(), 9).optional()],
    ['anything', z.record(z.string(), z.unknown())],
  ])('takes %s', (_, schema) => {
    expect(checkBounded(schema)).toEqual([]);
  });
});
