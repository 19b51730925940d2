import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Fixture, openFixture, targets } from './tenants-fixture.ts';

describe.each(Object.entries(targets))('channels, %s', (_, make) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await openFixture(make);
    for (const [tenant_id, as] of [
      ['outlocks', 'ann'],
      ['rival', 'bob'],
    ] as const)
      await fixture.call('POST', '/v1/tenants', { as, send: { tenant_id, name: 'X', status: 'active' } });
  });
  afterAll(() => fixture.target.close());

  const claim = (tenant: string, channel_id: string, as = 'ann') =>
    fixture.call('POST', `/v1/tenants/${tenant}/channels`, { as, send: { type: 'teams', channel_id } });
  const resolve = async (channel_id: string) => {
    try {
      return (await fixture.tenants.resolveChannel('teams', channel_id)).tenant_id;
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it('are mapped as documented', async () => {
    expect((await claim('outlocks', 'azure-bot-app-id')).status).toBe(201);
    const { Items } = await fixture.target.client.query({
      TableName: 'tenants',
      IndexName: 'channel-mapping',
      KeyConditionExpression: 'gsi1pk = :channel_key',
      ExpressionAttributeValues: { ':channel_key': 'CHANNEL#teams#azure-bot-app-id' },
    });
    expect(Items).toMatchObject([
      { pk: 'TENANT#outlocks', sk: 'CHANNEL#teams#azure-bot-app-id', gsi1sk: 'TENANT#outlocks' },
    ]);
    const channel = { type: 'teams', channel_id: 'azure-bot-app-id' };
    expect(await fixture.tenants.findChannelMappings(channel)).toMatchObject([{ tenant_id: 'outlocks' }]);
    expect(await resolve('azure-bot-app-id')).toBe('outlocks');
  });

  it('belong to one tenant', async () => {
    const first = await claim('outlocks', 'mine');
    expect(await claim('outlocks', 'mine')).toMatchObject({ status: 200, body: first.body });
    const second = await claim('rival', 'mine', 'bob');
    expect(second).toMatchObject({ status: 409, body: { code: 'tenants.channel_taken' } });
    expect(JSON.stringify(second.body)).not.toContain('outlocks');
    const path = '/v1/tenants/rival/channels/teams/mine';
    expect((await fixture.call('DELETE', path, { as: 'bob' })).status).toBe(404);
    expect(await resolve('mine')).toBe('outlocks');
  });

  it('are given to one of two tenants that claim them at once', async () => {
    for (let round = 0; round < 5; round++) {
      const id = `race-${round}`;
      const [a, b] = await Promise.all([claim('outlocks', id), claim('rival', id, 'bob')]);
      expect([a.status, b.status].sort()).toEqual([201, 409]);
      expect(await resolve(id)).toBe(a.status === 201 ? 'outlocks' : 'rival');
    }
  });

  it('can be claimed by another tenant once they are released', async () => {
    await claim('outlocks', 'moved');
    const path = '/v1/tenants/outlocks/channels/teams/moved';
    expect((await fixture.call('DELETE', path)).status).toBe(204);
    expect((await fixture.call('DELETE', path)).status).toBe(404);
    expect(await resolve('moved')).toBe('tenants.channel_not_found');
    expect((await claim('rival', 'moved', 'bob')).status).toBe(201);
    expect(await resolve('moved')).toBe('rival');
  });

  it('are not resolved by a mapping without a claim', async () => {
    const Item = {
      pk: 'TENANT#outlocks',
      sk: 'CHANNEL#teams#planted',
      gsi1pk: 'CHANNEL#teams#planted',
      gsi1sk: 'TENANT#outlocks',
    };
    await fixture.target.client.put({ TableName: 'tenants', Item });
    expect(await resolve('planted')).toBe('tenants.channel_not_found');
    // The tenant that claims it owns it, not the one that only has the mapping.
    expect((await claim('rival', 'planted', 'bob')).status).toBe(201);
    expect((await claim('outlocks', 'planted')).status).toBe(409);
    expect(await resolve('planted')).toBe('rival');
  });

  it.each(['', '#', 'a#b', '\u0000', 'x'.repeat(3000), '\ud800'])('are unknown if named %j', async id => {
    expect(await resolve(id)).toBe('tenants.channel_not_found');
    await expect(fixture.tenants.resolveChannel(id, 'mine')).rejects.toMatchObject({
      code: 'tenants.channel_not_found',
    });
  });

  it('lead only to an active tenant', async () => {
    const send = { tenant_id: 'asleep', name: 'X' };
    await fixture.call('POST', '/v1/tenants', { send });
    await claim('asleep', 'quiet');
    expect(await resolve('quiet')).toBe('tenants.onboarding');
    const become = (status: string) => fixture.call('PATCH', '/v1/tenants/asleep', { send: { status } });
    await become('active');
    expect(await resolve('quiet')).toBe('asleep');
    await become('suspended');
    expect(await resolve('quiet')).toBe('tenants.suspended');
    await fixture.call('DELETE', '/v1/tenants/asleep');
    expect(await resolve('quiet')).toBe('tenants.channel_not_found');
  });

  it('are listed', async () => {
    const { body } = await fixture.call('GET', '/v1/tenants/rival/channels', { as: 'bob' });
    expect(body.data.map((one: { channel_id: string }) => one.channel_id)).toContain('moved');
    expect((await fixture.call('GET', '/v1/tenants/rival/channels')).status).toBe(404);
  });
});
