import { expect, it } from 'vitest';
import { z } from 'zod';
import { addFieldErrors, type FieldErrors } from './field-errors.ts';

const wordsFor = (schema: z.ZodType, value: unknown): string[] => {
  const { error } = schema.safeParse(value);
  const errors: FieldErrors = { count: 0, first: [] };
  if (error) addFieldErrors(errors, error, 'body');
  return errors.first.map(({ detail }) => detail);
};

it.each<[z.ZodType, unknown, string]>([
  [z.string().min(10), 'short', 'Must have at least 10 characters'],
  [z.string().min(1), '', 'Must not be empty'],
  [z.string().max(3), 'long', 'Must have at most 3 characters'],
  [z.array(z.string()).max(1), ['a', 'b'], 'Must have at most 1 entry'],
  [z.number().min(5), 4, 'Must be at least 5'],
  [z.number().gt(5), 5, 'Must be more than 5'],
  [z.int().max(5), 6, 'Must be at most 5'],
  [z.int(), 1.5, 'Must be a whole number'],
  [z.string(), 1, 'Must be text'],
  [z.strictObject({ a: z.string() }), {}, 'Is required'],
  [z.enum(['read', 'write']), 'all', 'Must be one of read, write'],
  [z.literal('me'), 'you', 'Must be me'],
  [z.email(), 'nobody', 'Must be an e-mail address'],
  [z.string().regex(/^a$/), 'b', 'Must be in the form that the reference shows'],
  [z.string().regex(/^a$/, 'Write an a'), 'b', 'Write an a'],
  [z.string().refine(() => false, 'Not printable'), 'b', 'Not printable'],
  [z.union([z.string().min(3), z.boolean()]), 1, 'Fits none of the forms that the reference shows'],
  [z.strictObject({}), { b: 1 }, 'Unknown field'],
])('says how to correct a field: %#', (schema, value, words) => {
  expect(wordsFor(schema, value)).toEqual([words]);
});
