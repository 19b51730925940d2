import { superviseWorkers } from '@stak/kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accountDeletion } from '../src/table.ts';
import { type Engine, openEmbedded, password, type Serving, serve } from './open-accounts.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEmbedded();
});
afterEach(() => engine.close());

const remove = (house: Serving, as: string, body: object = { password }) =>
  house.call('POST', '/v1/me/deletion', { as, send: body });
const itemsOf = async (): Promise<Record<string, unknown>[]> => {
  const { Items = [] } = await engine.client.scan({ TableName: 'ferryhook-main' });
  return Items;
};

describe('deleting an account', () => {
  it('needs the password, ends everything at once, and leaves nothing', async () => {
    const erased: string[] = [];
    let left = 3;
    const eraser = {
      name: 'webhooks',
      eraseAccount: async (accountId: string) => {
        erased.push(accountId);
        return --left > 0 ? ('more' as const) : ('done' as const);
      },
    };
    const house = serve(engine, { erasers: () => [eraser, { name: 'without accounts' }] });
    const { access_token: as } = await house.signUp('ann@example.com');
    const user = (await house.users.getByEmail('ann@example.com'))!;
    await house.users.update(user.userId, { githubId: 'gh1' });
    await house.users.incrementUsage(user.userId, 5);
    const { key } = await house.apiKeys.create(user.userId, { name: 'k', permissions: 'admin' });

    await house.call('PUT', '/v1/saved/sql/By%20day', { as, send: { text: 'select 1' } });
    const by = { kind: 'account', via: 'session', scope: 'admin', credentialId: 'ses_1' } as const;
    await house.lakeTexts.set({ ...by, accountId: user.userId, userId: user.userId }, true, {});
    expect(await house.lakeTexts.read(user.userId)).toBe(house.clock.now());

    expect(await house.codeOf(await remove(house, as, { password: 'wrong horse battery' }))).toBe(
      'accounts.password_wrong',
    );
    expect(await house.codeOf(await remove(house, as, {}))).toBe('accounts.password_wrong');
    expect((await remove(house, as)).status).toBe(202);

    for (const token of [as, key])
      expect((await house.call('GET', '/v1/me', { as: token })).status).toBe(401);
    expect((await house.logIn('ann@example.com')).status).toBe(401);
    await expect(
      house.apiKeys.create(user.userId, { name: 'late', permissions: 'read' }),
    ).rejects.toMatchObject({ code: 'accounts.being_deleted' });

    await house.settle();
    await house.finishDeletions();
    expect(erased, 'a request that was let in before may still be at work').toEqual([]);
    await house.clock.advance(60_000);
    await house.finishDeletions();
    expect(erased).toEqual([user.userId, user.userId, user.userId]);
    const remaining = (await itemsOf()).filter(item => JSON.stringify(item).includes(user.userId));
    expect(remaining).toEqual([]);
    // The address and the identity are free again.
    await house.signUp('ann@example.com');
    await house.users.create({ email: 'other@example.com', name: 'O', githubId: 'gh1' });
  });

  it('goes on elsewhere when a service fails or the process dies', async () => {
    let isDown = true;
    const eraseAccount = async () => {
      if (isDown) throw new Error('no connection');
      return 'done' as const;
    };
    const house = serve(engine, { erasers: () => [{ name: 'tasks', eraseAccount }] });
    const { access_token } = await house.signUp('ann@example.com');
    const { userId } = (await house.users.getByEmail('ann@example.com'))!;
    await remove(house, access_token);
    await house.clock.advance(60_000);
    await house.finishDeletions();
    expect(house.lines.join()).toContain('has to be tried again');
    expect(await house.users.getById(userId)).not.toBeNull();
    expect((await house.logIn('ann@example.com')).status).toBe(401);

    isDown = false;
    const other = serve(engine, { erasers: () => [{ name: 'tasks', eraseAccount }] });
    await Promise.all([house.finishDeletions(), other.finishDeletions()]);
    expect(await other.users.getById(userId)).toBeNull();
    expect(await other.store.get(accountDeletion, { userId })).toBeUndefined();
    await house.settle();
  });

  it('is done by a worker when its time has come', async () => {
    let ring = (_: string) => {};
    const rung = new Promise<string>(resolve => {
      ring = resolve;
    });
    const eraseAccount = async (accountId: string) => {
      ring(accountId);
      return 'done' as const;
    };
    const house = serve(engine, { erasers: () => [{ name: 'inbox', eraseAccount }] });
    const { access_token } = await house.signUp('ann@example.com');
    const { userId } = (await house.users.getByEmail('ann@example.com'))!;
    const workers = superviseWorkers(house.workers, { clock: house.clock, log: house.log });
    await remove(house, access_token);
    await house.clock.advance(60_000);
    expect(await rung).toBe(userId);
    expect(await workers.stop()).toEqual([]);
    expect(await house.users.getById(userId)).toBeNull();
    await house.settle();
  });

  it('asks someone without a password to have signed in just now', async () => {
    const house = serve(engine);
    const { userId } = await house.users.create({ email: 'o@example.com', name: 'O', githubId: '1' });
    const origin = { address: undefined };
    const { accessToken } = await house.sessions.start({ userId, signedInWith: 'github', origin });
    const { refreshToken } = await house.sessions.start({ userId, signedInWith: 'github', origin });
    await house.clock.advance(10 * 60_000);
    expect(await house.codeOf(await remove(house, accessToken, {}))).toBe('accounts.sign_in_again');
    // Refreshing is not signing in.
    const refreshed = await house.sessions.refresh(refreshToken, origin);
    expect(await house.codeOf(await remove(house, refreshed.accessToken, {}))).toBe('accounts.sign_in_again');
    const fresh = await house.sessions.start({ userId, signedInWith: 'github', origin });
    expect((await remove(house, fresh.accessToken, {})).status).toBe(202);
    await house.settle();
  });
});
