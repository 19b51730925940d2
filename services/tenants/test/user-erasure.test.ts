import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createNotes, fillTenant, graceMs, leftOf, runWorker } from './erasure-fixture.ts';
import { everyItem, type Fixture, openFixture, targets } from './tenants-fixture.ts';

describe.each(Object.entries(targets))('a user, %s', (_, make) => {
  let fixture: Fixture;
  let notes: ReturnType<typeof createNotes>;
  beforeAll(async () => {
    fixture = await openFixture(make);
    await fillTenant(fixture, 'acme');
  });
  beforeEach(() => {
    notes = createNotes();
    fixture.erasers.splice(0, fixture.erasers.length, notes.eraser);
  });
  afterAll(() => fixture.target.close());

  const at = (path: string) => `/v1/tenants/acme/users/${path}`;
  const linesOf = (body: string) =>
    body
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));

  it('is exported with the data of every service', async () => {
    notes.add('acme', 'u1', 2);
    notes.add('acme', 'u2', 2);
    const { status, body, headers } = await fixture.call('GET', at('u1/export'));
    expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    expect(linesOf(body)).toEqual([
      {
        service: 'tenants',
        kind: 'user',
        item: expect.objectContaining({ user_id: 'u1', email: 'u1@example.com' }),
      },
      { service: 'notes', kind: 'note', item: 'note 0' },
      { service: 'notes', kind: 'note', item: 'note 1' },
      { kind: 'end', items: 3 },
    ]);
    expect(linesOf((await fixture.call('GET', at('nobody/export'))).body)).toEqual([
      { kind: 'end', items: 0 },
    ]);
    expect((await fixture.call('GET', at('u1/export'), { as: 'bob' })).status).toBe(404);
  });

  it('is erased in every service, and no other user is', async () => {
    notes.add('acme', 'u1', 5);
    notes.add('acme', 'u2', 1);
    const invited = { email: 'U1@example.com', user_id: 'u9' };
    await fixture.call('DELETE', at('u1'));
    await fixture.call('POST', '/v1/tenants/acme/invitations', { send: invited });
    await fixture.call('POST', '/v1/tenants/acme/users', {
      send: {
        user_id: 'u1',
        display_name: 'X',
        email: 'u1@example.com',
        channel_identities: { slack: 'U1' },
      },
    });
    const { status, body, headers } = await fixture.call('POST', at('u1/erasure'));
    expect(status).toBe(202);
    expect(body).toMatchObject({ subject: 'user', user_id: 'u1', status: 'waiting' });
    await fixture.clock.advance(graceMs);
    await runWorker(fixture);
    expect((await fixture.call('GET', headers.get('location')!)).body.status).toBe('done');

    expect((await fixture.call('GET', at('u1'))).status).toBe(404);
    expect((await fixture.call('GET', at('u2'))).status).toBe(200);
    expect([...notes.notes.keys()]).toEqual(['acme/u2/0']);
    // What is left says that it was erased, and until when its tokens are void.
    const about = (await everyItem(fixture.target)).filter(item => /\bu1\b/i.test(JSON.stringify(item)));
    expect(about.map(item => String(item.sk).replace(/_\w+$/, '')).sort()).toEqual([
      'ERASURE#era',
      'TOKENS#u1',
    ]);
  });

  it('is erased even if only other services know it, also of a suspended tenant', async () => {
    notes.add('acme', 'stranger', 3);
    await fixture.call('PATCH', '/v1/tenants/acme', { send: { status: 'suspended' } });
    expect((await fixture.call('POST', at('stranger/erasure'))).status).toBe(202);
    await fixture.clock.advance(graceMs);
    await runWorker(fixture);
    expect(notes.notes.size).toBe(0);
  });

  it('leaves no open job behind if its tenant is deleted first', async () => {
    const down = async () => {
      throw new Error('down');
    };
    fixture.erasers.push({ name: 'down', eraseUser: down });
    await fillTenant(fixture, 'doomed');
    await fixture.call('POST', '/v1/tenants/doomed/users/u1/erasure');
    await fixture.call('DELETE', '/v1/tenants/doomed');
    await fixture.clock.advance(graceMs);
    await runWorker(fixture);
    expect(await leftOf(fixture.target, 'doomed')).toEqual([
      'ERASURES ERASURE#era',
      'TENANT#doomed ERASURE#era',
      'TENANT#doomed META',
    ]);
    await runWorker(fixture);
    expect((await everyItem(fixture.target)).filter(item => item.pk === 'ERASURES')).toEqual([]);
  });
});
