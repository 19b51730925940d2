import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LimitShare } from '../src/index.ts';
import { recountMs } from '../src/limits.ts';
import { type Fixture, openFixture, openProcess, targets } from './tenants-fixture.ts';

const times = (count: number) => Array.from({ length: count }, (_, i) => i);

describe.each(Object.entries(targets))('a plan, %s', (_, make) => {
  const plan: { tenants: number | null; usersPerTenant: number | null } = {
    tenants: null,
    usersPerTenant: null,
  };
  let processes: Fixture[]; // two processes over one table
  let notified: LimitShare[];
  let onNotify: () => Promise<void>; // called for each notice
  beforeEach(async () => {
    Object.assign(plan, { tenants: null, usersPerTenant: null });
    notified = [];
    onNotify = async () => {};
    const onShareUsed = async (share: LimitShare) => {
      notified.push(share);
      await onNotify();
    };
    const first = await openFixture(make, { planOf: async () => plan, onShareUsed });
    const given = { clock: first.clock, planOf: async () => plan, onShareUsed };
    processes = [first, openProcess(first.target, given)];
  });
  afterEach(() => processes[0]!.target.close());

  const call = (i: number, ...given: Parameters<Fixture['call']>) => processes[i % 2]!.call(...given);
  const newTenant = (i: number) =>
    call(i, 'POST', '/v1/tenants', { send: { tenant_id: `tenant-${i}`, name: 'Tenant', status: 'active' } });
  const users = '/v1/tenants/tenant-0/users';
  const newUser = (i: number) => call(i, 'POST', users, { send: { user_id: `u${i}`, display_name: 'X' } });
  const listed = async (path: string) => (await call(0, 'GET', `${path}?limit=100`)).body.data.length;
  // A caller that met so many others that the store gave up tries again.
  const patiently = async (attempt: () => ReturnType<typeof newUser>) => {
    for (;;) {
      const answer = await attempt();
      if (answer.body?.code !== 'table.busy') return answer;
    }
  };
  const codes = (answers: { status: number; body: { code?: string } }[]) =>
    answers.map(({ status, body }) => (status === 201 ? 'made' : body.code)).toSorted();

  it('limits the number of tenants, however many are created at once', async () => {
    plan.tenants = 3;
    const made = codes(await Promise.all(times(8).map(i => patiently(() => newTenant(i)))));
    expect(made).toEqual([
      ...times(3).map(() => 'made'),
      ...times(5).map(() => 'tenants.tenant_limit_reached'),
    ]);
    expect(await listed('/v1/tenants')).toBe(3);
    expect(await processes[0]!.tenants.countTenants('usr_ann')).toEqual({ used: 3, limit: 3 });

    const { body } = await call(0, 'GET', '/v1/tenants');
    await call(0, 'DELETE', `/v1/tenants/${body.data[0].tenant_id}`);
    const repeated = { send: { name: 'Tenant', status: 'active' }, key: 'a-key' };
    const { status, body: fourth } = await call(0, 'POST', '/v1/tenants', repeated);
    expect(status).toBe(201);
    const again = await call(1, 'POST', '/v1/tenants', repeated); // the same one, though the plan is full
    expect(again.body).toMatchObject({ tenant_id: fourth.tenant_id });
    expect((await newTenant(21)).body).toMatchObject({ code: 'tenants.tenant_limit_reached' });
    plan.tenants = 4;
    expect((await newTenant(21)).status).toBe(201);
  });

  it('limits the users of a tenant, however they are created', async () => {
    plan.usersPerTenant = 4;
    await newTenant(0);
    const invite = (email: string) =>
      call(1, 'POST', '/v1/tenants/tenant-0/invitations', { send: { email, role: 'member' } });
    const { token } = (await invite('late@example.com')).body;
    const made = codes(await Promise.all(times(9).map(i => patiently(() => newUser(i)))));
    expect(made).toEqual([
      ...times(4).map(() => 'made'),
      ...times(5).map(() => 'tenants.user_limit_reached'),
    ]);
    expect(await listed(users)).toBe(4);

    const accept = () =>
      call(1, 'POST', '/v1/invitations/accept', { as: '', send: { token, display_name: 'Late' } });
    expect((await accept()).body.code).toBe('tenants.user_limit_reached');
    expect((await invite('later@example.com')).body.code).toBe('tenants.user_limit_reached');
    const [gone] = (await call(0, 'GET', users)).body.data;
    expect((await call(1, 'DELETE', `${users}/${gone.user_id}`)).status).toBe(204);
    expect((await accept()).status).toBe(201); // the invitation was not used up
    expect((await newUser(30)).body.code).toBe('tenants.user_limit_reached');
  });

  it('counts what existed before the limit, and refuses no one because of a wrong count', async () => {
    await newTenant(0);
    for (const i of times(3)) await newUser(i);
    plan.usersPerTenant = 3;
    expect((await newUser(3)).body.code).toBe('tenants.user_limit_reached');
    // As a process of an older version deletes, which knows of no count.
    await processes[0]!.target.client.delete({
      TableName: 'tenants',
      Key: { pk: 'TENANT#tenant-0', sk: 'USER#u0' },
    });
    expect((await newUser(3)).body.code).toBe('tenants.user_limit_reached');
    processes[0]!.clock.advance(recountMs);
    expect((await newUser(3)).status).toBe(201);
    expect((await newUser(4)).body.code).toBe('tenants.user_limit_reached');
    plan.usersPerTenant = null; // and counts on, for the day when there is one again
    expect((await newUser(4)).status).toBe(201);
    plan.usersPerTenant = 4;
    expect((await newUser(5)).body.code).toBe('tenants.user_limit_reached');
  });

  it('counts a user of another program once, however often that program writes them', async () => {
    await newTenant(0);
    plan.usersPerTenant = 3;
    await newUser(0);
    const put = (user_id: string, more: object) =>
      processes[0]!.target.client.put({
        TableName: 'tenants',
        Item: {
          pk: 'TENANT#tenant-0',
          sk: `USER#${user_id}`,
          user_id,
          display_name: 'Y',
          role: 'member',
          ...more,
        },
      });
    for (const more of [{ email: 'ann@example.com' }, {}]) {
      for (let i = 0; i < 4; i++) {
        await put('other', more);
        expect((await call(i, 'GET', `${users}/other`)).status).toBe(200);
      }
      const invited = await call(0, 'POST', '/v1/tenants/tenant-0/invitations', {
        send: { email: 'bea@example.com', role: 'member' },
      });
      expect(invited.status).toBe(201);
    }
    expect((await newUser(1)).status).toBe(201);
    expect((await newUser(2)).body.code).toBe('tenants.user_limit_reached');
  });

  const shares = (tenant_id?: string) =>
    notified.filter(one => one.tenant_id === tenant_id).map(one => one.percent);

  it('notifies the account at 80 and at 100 percent, each process once', async () => {
    plan.tenants = 5;
    plan.usersPerTenant = 10;
    for (const i of [0, 2, 4]) await newTenant(i);
    for (const i of times(7)) await newUser(2 * i);
    expect(notified).toEqual([]);
    await newTenant(6);
    await newUser(14);
    await expect.poll(() => notified).toHaveLength(2);
    expect(notified).toContainEqual({ account_id: 'usr_ann', percent: 80, limit: 5 });
    expect(notified).toContainEqual({ account_id: 'usr_ann', tenant_id: 'tenant-0', percent: 80, limit: 10 });
    for (const i of [8, 10, 12]) await newTenant(i);
    for (const i of [16, 18, 20, 22]) await newUser(i);
    await expect.poll(() => notified).toHaveLength(4);
    expect([shares(), shares('tenant-0')]).toEqual([
      [80, 100],
      [80, 100],
    ]);

    // Another plan has other limits, and another process does not know what was sent: the mail is sent once.
    plan.tenants = 6;
    await newTenant(8);
    await newTenant(13);
    await expect.poll(shares).toEqual([80, 100, 80, 100]);
  });

  it('notifies about a plan that concurrent requests fill, and retries if that failed', async () => {
    plan.tenants = 3;
    onNotify = async () => {
      throw new Error('no mail today');
    };
    await Promise.all(times(5).map(i => patiently(() => newTenant(2 * i))));
    await expect.poll(() => shares().includes(100)).toBe(true);
    onNotify = async () => {};
    notified = [];
    expect((await newTenant(20)).body.code).toBe('tenants.tenant_limit_reached');
    await expect.poll(shares).toEqual([100]);
    expect((await newTenant(20)).body.code).toBe('tenants.tenant_limit_reached');
    await processes[0]!.tenants.countTenants('usr_ann');
    expect(shares()).toEqual([100]);
  });
});
