import type { Principal } from '@stak/http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, openFixture } from './tenants-fixture.ts';

const account = (accountId: string): Principal => ({
  kind: 'account',
  accountId,
  scope: 'admin',
  via: 'session',
  credentialId: 's',
});
const endUser = (tenantId: string): Principal => ({ kind: 'endUser', tenantId, userId: 'u', scope: 'admin' });
const provider: Principal = { kind: 'provider', provider: 'slack', subject: 'acme' };

describe('the gate', () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture();
    await fixture.call('POST', '/v1/tenants', { send: { tenant_id: 'acme', name: 'Acme' } });
  });
  afterAll(() => fixture.target.close());

  const enter = async (principal: Principal, id: string, entrance?: { evenSuspended: boolean }) => {
    try {
      return (await fixture.tenants.enterTenant(principal, id, entrance)).status;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it('admits the tenant’s owner', async () => {
    const entered = await fixture.tenants.enterTenant(account('usr_ann'), 'acme');
    expect(entered).toMatchObject({ tenant_id: 'acme', account_id: 'usr_ann', status: 'onboarding' });
    expect(entered.settings.messages_per_day).toBe(1000);
    expect(await enter(endUser('acme'), 'acme')).toBe('onboarding');
  });

  it.each([
    ['another account', account('usr_bob'), 'acme'],
    ['an end user of another tenant', endUser('other'), 'acme'],
    ['a provider', provider, 'acme'],
    ['the owner of nothing', account('usr_ann'), 'missing'],
    ['an id that is none', account('usr_ann'), 'acme#META'],
    ['an empty id', account('usr_ann'), ''],
    ['a hostile id', endUser('\ud800'), '\ud800'],
  ])('gives the same response to %s', async (_, principal, id) => {
    const error = await fixture.tenants.enterTenant(principal, id).catch(thrown => thrown);
    expect([error.code, error.message]).toEqual(['tenants.not_found', 'Tenant not found.']);
  });

  it('closes as soon as a tenant is suspended or deleted', async () => {
    await fixture.call('PATCH', '/v1/tenants/acme', { send: { status: 'active' } });
    await fixture.call('PATCH', '/v1/tenants/acme', { send: { status: 'suspended' } });
    expect(await enter(account('usr_ann'), 'acme')).toBe('tenants.suspended');
    expect(await enter(endUser('acme'), 'acme')).toBe('tenants.suspended');
    expect(await enter(account('usr_ann'), 'acme', { evenSuspended: true })).toBe('suspended');
    await fixture.call('DELETE', '/v1/tenants/acme');
    expect(await enter(account('usr_ann'), 'acme', { evenSuspended: true })).toBe('tenants.not_found');
    expect(await enter(endUser('acme'), 'acme')).toBe('tenants.not_found');
  });
});
