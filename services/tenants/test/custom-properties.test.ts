import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, openFixture } from './tenants-fixture.ts';

const users = '/v1/tenants/acme/users';
const path = '/v1/tenants/acme/properties-schema';
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    team: { type: 'string', maxLength: 10 },
    born: { type: 'string', format: 'date' },
    level: { anyOf: [{ type: 'integer', minimum: 1 }, { const: 'none' }] },
  },
  required: ['team'],
  additionalProperties: false,
};

describe('custom properties', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture();
    await fixture.call('POST', '/v1/tenants', { send: { tenant_id: 'acme', name: 'Acme' } });
  });
  afterAll(() => fixture.target.close());

  const define = (send: object) => fixture.call('PUT', path, { send });
  const create = (custom_properties: object) =>
    fixture.call('POST', users, { send: { display_name: 'X', custom_properties } });

  it('are validated against the tenant’s schema, if it has one', async () => {
    expect((await fixture.call('GET', path)).body.code).toBe('tenants.schema_not_found');
    expect((await create({ anything: true })).status).toBe(201);
    expect(await define(schema)).toMatchObject({ status: 200, etag: '"v1"' });
    expect((await fixture.call('GET', path)).body).toEqual(schema);
    expect((await create({ team: 'red', born: '2001-02-03', level: 'none' })).status).toBe(201);
    for (const bad of [
      { team: 'x'.repeat(11) },
      { team: 'a', born: 'x' },
      { level: 1 },
      { team: 'a', more: 1 },
    ])
      expect(await create(bad)).toMatchObject({ status: 422, body: { code: 'tenants.properties_refused' } });
    expect(await create({ team: 'a', '\u2028/~': 1 })).toMatchObject({ status: 422 });
    expect(await create({ team: 'a', '\ud800/~': 1 })).toMatchObject({ status: 400 });

    const made = await create({ team: 'red' });
    const one = `${users}/${made.body.user_id}`;
    const wrong = { send: { custom_properties: { team: null, level: 2 } }, ifMatch: made.etag };
    expect((await fixture.call('PATCH', one, wrong)).status).toBe(422);
    const right = { send: { custom_properties: { level: 2 } }, ifMatch: made.etag };
    expect((await fixture.call('PATCH', one, right)).body.custom_properties).toEqual({
      team: 'red',
      level: 2,
    });
  });

  it('follow the schema when it is changed or removed', async () => {
    await define({ type: 'object', required: ['size'] });
    expect((await create({ team: 'red' })).status).toBe(422);
    expect((await fixture.call('PUT', path, { send: schema, ifMatch: '"v99"' })).status).toBe(412);
    expect((await fixture.call('PUT', path, { send: schema, ifMatch: '"vzz"' })).status).toBe(412);
    expect((await fixture.call('DELETE', path)).status).toBe(204);
    expect((await create({ anything: 'goes' })).status).toBe(201);
  });

  const deep = (levels: number): object =>
    levels === 0 ? { type: 'array' } : { type: 'array', items: deep(levels - 1) };
  it.each([
    ['a pattern', { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } }],
    ['pattern properties', { type: 'object', patternProperties: { '(a+)+$': {} } }],
    ['a format nobody knows', { type: 'object', properties: { a: { type: 'string', format: 'regex' } } }],
    ['a reference to itself', { type: 'object', allOf: [{ $ref: '#' }] }],
    ['a reference elsewhere', { type: 'object', properties: { a: { $ref: 'http://127.0.0.1/x' } } }],
    ['a dynamic reference', { type: 'object', $dynamicRef: '#x' }],
    ['an id', { $id: 'https://example.com/x', type: 'object' }],
    ['unique items', { type: 'object', properties: { a: { type: 'array', uniqueItems: true } } }],
    ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }],
    ['something that is not an object', { type: 'string' }],
    ['nonsense', { type: 'object', properties: { a: { type: 'strange' } } }],
    ['nonsense in a list', { type: 'object', anyOf: [1] }],
    ['nonsense in a place for properties', { type: 'object', properties: [] }],
    ['an inherited name', { type: 'object', constructor: {} }],
    ['too deep a nesting', { type: 'object', not: deep(20) }],
    [
      'too many parts',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`p${i}`, {}])),
      },
    ],
    ['too much text', { type: 'object', description: 'x'.repeat(17_000) }],
  ])('refuse a schema with %s', async (_, send) => {
    expect(await define(send)).toMatchObject({ status: 422, body: { code: 'tenants.schema_refused' } });
  });

  it('accept names that JavaScript reserves', async () => {
    const properties = { constructor: { type: 'string' }, toString: { type: 'integer' } };
    expect((await define({ type: 'object', properties, required: ['toString'] })).status).toBe(200);
    expect((await create({ constructor: 'x' })).status).toBe(422);
    expect((await create({ constructor: 'x', toString: 1 })).status).toBe(201);
    await fixture.call('DELETE', path);
  });
});
