import { expect, it } from 'vitest';
import { z } from 'zod';
import { endpoint, json, nameSchemas, route } from '../src/index.ts';
import { openShelf } from './shelf-service.ts';

const chapter = z.strictObject({ title: z.string(), pages: z.int() });
const volume = z.strictObject({
  title: z.string(),
  chapters: z.array(chapter),
  first: chapter.nullable(),
  last: chapter.optional().describe('The last one'),
});
nameSchemas({ Chapter: chapter, Volume: volume });

function describeRoute(schema: z.ZodType) {
  const spec = route({
    method: 'get',
    path: '/v1/volumes',
    operationId: 'volumes.list',
    auth: 'public',
    reaches: 'nothing',
    audit: false,
    stores: 'nothing',
    tenant: 'none',
    mcp: false,
    summary: 'List volumes',
    responses: { 200: json(schema) },
  });
  const { api } = openShelf({ more: [endpoint(spec, c => c.json({} as never, 200))] });
  const { paths, components } = api.document();
  const answer = paths?.['/v1/volumes']?.get?.responses?.[200] as {
    content: { 'application/json': { schema: object } };
  };
  return { schema: answer.content['application/json'].schema, components: components?.schemas ?? {} };
}

it('named schemas are components, wherever they are used', () => {
  const { schema, components } = describeRoute(z.array(volume));
  expect(schema).toMatchObject({ type: 'array', items: { $ref: '#/components/schemas/Volume' } });
  expect(components.Chapter).toMatchObject({ type: 'object', required: ['title', 'pages'] });
  expect(components.Volume).toMatchObject({
    properties: {
      chapters: { items: { $ref: '#/components/schemas/Chapter' } },
      first: { anyOf: [{ $ref: '#/components/schemas/Chapter' }, { type: 'null' }] },
      last: { $ref: '#/components/schemas/Chapter', description: 'The last one' },
    },
  });
  expect(JSON.stringify([schema, components])).not.toContain('x-component');
});

it('what extends a named schema is not that schema', () => {
  const { schema, components } = describeRoute(chapter.extend({ isRead: z.boolean() }));
  expect(schema).toMatchObject({ properties: { title: {}, pages: {}, isRead: {} } });
  expect(components.Chapter).toBeUndefined();
});

it('what says the same as a named schema is that schema', () => {
  const equal = z.strictObject({ title: z.string(), pages: z.int() }).describe('Another one');
  const { schema, components } = describeRoute(z.strictObject({ chapter, equal }));
  expect(schema).toMatchObject({
    properties: { equal: { $ref: '#/components/schemas/Chapter', description: 'Another one' } },
  });
  expect(components.Chapter).toMatchObject({ properties: { title: {}, pages: {} } });
});

it('two schemas cannot have the same name', () => {
  const other = z.strictObject({ number: z.int() });
  nameSchemas({ Chapter: other });
  expect(() => describeRoute(z.strictObject({ one: chapter, other }))).toThrow(
    'Two schemas are named Chapter',
  );
});
