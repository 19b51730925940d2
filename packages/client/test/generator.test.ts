import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generateClient } from '../src/generator.ts';
import { type Schema, typeText } from '../src/schema-type.ts';
import { openApi } from './shelf-api.ts';

const root = join(import.meta.dirname, '../../..');
const fixture = join(import.meta.dirname, 'shelf-operations.ts');

const format = (text: string) =>
  execFileSync(
    process.execPath,
    [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'format', `--stdin-file-path=${fixture}`],
    { cwd: root, input: text, encoding: 'utf8' },
  );

describe('the generator', () => {
  // After a change: `vitest run packages/client --update`.
  it('creates the module that the other tests use', async () => {
    const text = format(generateClient(openApi().api.document()));
    await expect(text).toMatchFileSnapshot(fixture);
  });

  it('names types that occur twice', () => {
    const book = { type: 'object', properties: { id: string, title: string, shelf: string } };
    const answer = (schema: object) => ({ 200: { content: { 'application/json': { schema } } } });
    const text = generateClient({
      paths: {
        '/b': { get: { operationId: 'books.list', responses: answer({ type: 'array', items: book }) } },
        '/b/{id}': { get: { operationId: 'books.read', responses: answer(book) } },
      },
    });
    expect(text).toContain('export type BooksListDataItem = {');
    expect(text).toContain("'books.read': { args: Record<never, never>; data: BooksListDataItem }");
    expect(text).toContain('data: Array<BooksListDataItem>');
  });

  it('skips operations without a name and refuses two arguments with the same name', () => {
    const operation = {
      responses: {},
      parameters: [
        { name: 'a', in: 'path' },
        { name: 'a', in: 'query' },
      ],
    };
    expect(
      generateClient({ paths: { '/a': { get: { ...operation, operationId: 'get_a' } } } }),
    ).not.toContain('/a');
    expect(() =>
      generateClient({ paths: { '/a': { get: { ...operation, operationId: 'a.get' } } } }),
    ).toThrow('two arguments');
  });
});

const string = { type: 'string' };

it.each<[Schema, string]>([
  [{}, 'unknown'],
  [{ type: ['string', 'null'] }, 'string | null'],
  [{ type: 'integer' }, 'number'],
  [{ enum: ['a', 1, null] }, '"a" | 1 | null'],
  [{ const: true }, 'true'],
  [{ type: 'array' }, 'Array<unknown>'],
  [{ type: 'array', prefixItems: [string, { type: 'number' }] }, '[string, number]'],
  [{ type: 'object' }, 'Record<string, never>'],
  [{ type: 'object', additionalProperties: string }, '{ [name: string]: string }'],
  [
    { type: 'object', properties: { 'a-b': string, c: {} }, required: ['c'], additionalProperties: {} },
    '{ "a-b"?: string; "c": unknown; [name: string]: unknown }',
  ],
  [{ anyOf: [string, { type: 'null' }, string] }, 'string | null'],
  [
    { allOf: [{ $ref: '#/components/schemas/A' }, { type: 'object', properties: { b: string } }] },
    '(A) & ({ "b"?: string })',
  ],
  [{ type: 'string', format: 'binary' }, 'Uint8Array'],
])('the schema %j is %s', (schema, text) => {
  expect(typeText(schema, () => undefined)).toBe(text);
});
