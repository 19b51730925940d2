import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTwo, stepsOf, walk } from './route-walk.ts';
import { everyItem } from './tenants-fixture.ts';

describe('every route', () => {
  let two: Awaited<ReturnType<typeof openTwo>>;
  beforeAll(async () => {
    two = await openTwo();
  });
  afterAll(() => two.fixture.target.close());
  const steps = () => stepsOf(two.fixture, two.ids);
  const scoped = () => steps().filter(({ path }) => path.includes('anns'));
  const ofAccounts = () => scoped().filter(({ route }) => ['account', 'user'].includes(route.auth));

  it('is covered by this test', () => {
    expect(steps().map(({ id }) => id)).toHaveLength(
      new Set(steps().map(({ path, method }) => method + path)).size,
    );
    expect(scoped().length).toBe(steps().length - 3);
  });

  it('lets another account neither read nor change anything', async () => {
    const before = await everyItem(two.fixture.target);
    for (const step of ofAccounts()) {
      const { status, body } = await walk(two.fixture, step, 'bob');
      const isErasure = step.id === 'tenants.getErasure';
      const code = isErasure ? 'tenants.erasure_not_found' : 'tenants.not_found';
      expect([step.id, status, body.code]).toEqual([step.id, 404, code]);
    }
    expect(await everyItem(two.fixture.target)).toEqual(before);
  });

  it('responds alike to missing resources and to those of others', async () => {
    for (const step of ofAccounts()) {
      const theirs = await walk(two.fixture, step, 'bob');
      const missing = await walk(
        two.fixture,
        { ...step, path: step.path.replace('/anns', '/nobodys') },
        'bob',
      );
      const plain = ({ request_id: _, ...rest }: { request_id: string }) => rest;
      expect([step.id, plain(theirs.body)]).toEqual([step.id, plain(missing.body)]);
    }
  });

  it('shows an end user nothing of another tenant, and lets them manage nothing in their own', async () => {
    const before = await everyItem(two.fixture.target);
    for (const step of steps().filter(({ route }) => route.auth !== 'public')) {
      const isGranted = ['profile:read', 'any'].includes(step.route.endUserScope ?? '');
      const endUser = await walk(two.fixture, step, two.endUser);
      expect([step.id, endUser.status]).toEqual([step.id, isGranted ? 404 : 403]);
      const own = await walk(two.fixture, step, two.own);
      expect([step.id, own.status]).toEqual([step.id, isGranted ? 200 : 403]);
    }
    expect(await everyItem(two.fixture.target)).toEqual(before);
  });

  it('refuses callers without a token, with an unknown or expired one, or with too small a scope', async () => {
    const { fixture } = two;
    await fixture.clock.advance(61_000);
    for (const step of steps().filter(({ route }) => route.auth !== 'public')) {
      for (const as of ['', 'unknown', two.own]) {
        const { status, body } = await walk(fixture, step, as);
        expect([step.id, as, status, body.code]).toEqual([step.id, as, 401, 'http.unauthenticated']);
      }
      if (step.route.scope === 'read' || step.route.auth === 'endUser') continue;
      const { status, body } = await walk(fixture, step, 'ann-read');
      expect([step.id, status, body.code]).toEqual([step.id, 403, 'http.scope_missing']);
    }
  });

  it('refuses unknown fields, oversized bodies, and unexpected bodies', async () => {
    for (const step of steps().filter(({ route }) => route.auth !== 'endUser')) {
      // Settings keep what they do not know; a schema is refused by its own rules.
      const isOpen = /Settings$|putPropertiesSchema/.test(step.id);
      if (step.send && !isOpen) {
        const unknown = await walk(two.fixture, { ...step, send: { ...step.send, surprise: 1 } }, 'ann');
        expect([step.id, unknown.status]).toEqual([step.id, 400]);
        expect(unknown.body.errors).toMatchObject([{ code: 'unknown_field', pointer: '#/surprise' }]);
      }
      if (step.method === 'GET') continue;
      const large = await walk(two.fixture, { ...step, send: { name: 'x'.repeat(300_000) } }, 'ann');
      expect([step.id, large.status]).toEqual([step.id, step.send ? 413 : 400]);
    }
  });

  it('answers hostile names and values with a problem, never a 500', async () => {
    const hostile = fc.oneof(
      fc.constantFrom(
        '#',
        'a#b',
        '..',
        '%00',
        '\u0000',
        '\ud800',
        '__proto__',
        'constructor',
        "';--",
        '<script>',
        '🦊',
      ),
      fc.string({ unit: 'binary', maxLength: 80 }),
    );
    const value = fc.oneof(
      hostile,
      fc.integer(),
      fc.constant(null),
      fc.array(hostile),
      fc.dictionary(hostile, hostile),
    );
    const step = fc.constantFrom(
      ...steps().filter(({ id }) => !['tenants.delete', 'tenants.create'].includes(id)),
    );
    await fc.assert(
      fc.asyncProperty(
        step,
        fc.array(hostile, { minLength: 6, maxLength: 6 }),
        fc.infiniteStream(value),
        async (one, names, values) => {
          const path = one.route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
            name === 'tenant_id' ? 'anns' : encodeURIComponent(names.pop()!.toWellFormed() || '-'),
          );
          const send =
            one.send &&
            Object.fromEntries(Object.keys({ ...one.send, email: 1 }).map(key => [key, values.next().value]));
          const { status, body } = await walk(two.fixture, { ...one, path, send }, 'ann');
          expect(status).toBeLessThan(500);
          if (status >= 400) expect(body.code).toMatch(/^(http|tenants)\./);
        },
      ),
      { numRuns: process.env.STAK_LONG_TESTS ? 400 : 150 },
    );
  });

  it('is in the audit trail if it has changed something, and only then', async () => {
    const { fixture } = two;
    fixture.audited.length = 0;
    await fixture.call('POST', '/v1/tenants/anns/users', { send: { user_id: 'noted', display_name: 'X' } });
    await fixture.call('POST', '/v1/tenants/anns/users', { send: { user_id: 'noted', display_name: 'X' } });
    await fixture.call('GET', '/v1/tenants/anns/users');
    await fixture.call('DELETE', '/v1/tenants/anns/users/noted', { as: 'ann-write' });
    const from = {
      accountId: 'usr_ann',
      address: '203.0.113.7',
      requestId: expect.stringMatching(/^req_/),
    };
    const target = '/v1/tenants/anns/users/noted';
    expect(fixture.audited).toEqual([
      { ...from, via: 'session', credentialId: 'ann-admin', action: 'tenants.createUser', target },
      { ...from, via: 'api_key', credentialId: 'ann-write', action: 'tenants.deleteUser', target },
    ]);
  });
});
