import { superviseWorkers } from '@stak/kit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accountDeletion } from '../src/main-table.ts';
import { type Engine, openEmbedded, password, type Serving, serve } from './open-accounts.ts';

let engine: Engine;
beforeEach(async () => {
  engine = await openEmbedded();
});
afterEach(() => engine.close());

const remove = (fixture: Serving, as: string, body: object = { password }) =>
  fixture.call('POST', '/v1/me/deletion', { as, send: body });
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
    const fixture = serve(engine, { erasers: () => [eraser, { name: 'without accounts' }] });
    const { access_token: as } = await fixture.signUp('ann@example.com');
    const user = (await fixture.users.getByEmail('ann@example.com'))!;
    await fixture.users.update(user.userId, { githubId: 'gh1' });
    await fixture.users.incrementUsage(user.userId, 5);
    const { key } = await fixture.apiKeys.create(user.userId, { name: 'k', permissions: 'admin' });

    await fixture.call('PUT', '/v1/saved/sql/By%20day', { as, send: { text: 'select 1' } });
    const by = { kind: 'account', via: 'session', scope: 'admin', credentialId: 'ses_1' } as const;
    await fixture.lakeTexts.set({ ...by, accountId: user.userId, userId: user.userId }, true, {});
    expect(await fixture.lakeTexts.read(user.userId)).toBe(fixture.clock.now());

    expect(await fixture.codeOf(await remove(fixture, as, { password: 'wrong horse battery' }))).toBe(
      'accounts.password_wrong',
    );
    expect(await fixture.codeOf(await remove(fixture, as, {}))).toBe('accounts.password_wrong');
    expect((await remove(fixture, as)).status).toBe(202);

    for (const token of [as, key])
      expect((await fixture.call('GET', '/v1/me', { as: token })).status).toBe(401);
    expect((await fixture.logIn('ann@example.com')).status).toBe(401);
    await expect(
      fixture.apiKeys.create(user.userId, { name: 'late', permissions: 'read' }),
    ).rejects.toMatchObject({ code: 'accounts.being_deleted' });

    await fixture.settle();
    await fixture.finishDeletions();
    expect(erased, 'a request that was let in before may still be at work').toEqual([]);
    await fixture.clock.advance(60_000);
    await fixture.finishDeletions();
    expect(erased).toEqual([user.userId, user.userId, user.userId]);
    const remaining = (await itemsOf()).filter(item => JSON.stringify(item).includes(user.userId));
    expect(remaining).toEqual([]);
    // The address and the identity are free again.
    await fixture.signUp('ann@example.com');
    await fixture.users.create({ email: 'other@example.com', name: 'O', githubId: 'gh1' });
  });

  it('continues in another process when a service fails or the process dies', async () => {
    let isDown = true;
    const eraseAccount = async () => {
      if (isDown) throw new Error('no connection');
      return 'done' as const;
    };
    const fixture = serve(engine, { erasers: () => [{ name: 'tasks', eraseAccount }] });
    const { access_token } = await fixture.signUp('ann@example.com');
    const { userId } = (await fixture.users.getByEmail('ann@example.com'))!;
    await remove(fixture, access_token);
    await fixture.clock.advance(60_000);
    await fixture.finishDeletions();
    expect(fixture.lines.join()).toContain('has to be tried again');
    expect(await fixture.users.getById(userId)).not.toBeNull();
    expect((await fixture.logIn('ann@example.com')).status).toBe(401);

    isDown = false;
    const other = serve(engine, { erasers: () => [{ name: 'tasks', eraseAccount }] });
    await Promise.all([fixture.finishDeletions(), other.finishDeletions()]);
    expect(await other.users.getById(userId)).toBeNull();
    expect(await other.store.get(accountDeletion, { userId })).toBeUndefined();
    await fixture.settle();
  });

  it('is done by a worker when it is due', async () => {
    let onErased = (_: string) => {};
    const erased = new Promise<string>(resolve => {
      onErased = resolve;
    });
    const eraseAccount = async (accountId: string) => {
      onErased(accountId);
      return 'done' as const;
    };
    const fixture = serve(engine, { erasers: () => [{ name: 'inbox', eraseAccount }] });
    const { access_token } = await fixture.signUp('ann@example.com');
    const { userId } = (await fixture.users.getByEmail('ann@example.com'))!;
    const workers = superviseWorkers(fixture.workers, { clock: fixture.clock, log: fixture.log });
    await remove(fixture, access_token);
    await fixture.clock.advance(60_000);
    expect(await erased).toBe(userId);
    expect(await workers.stop()).toEqual([]);
    expect(await fixture.users.getById(userId)).toBeNull();
    await fixture.settle();
  });

  it('requires a recent sign-in from a person without a password', async () => {
    const fixture = serve(engine);
    const { userId } = await fixture.users.create({ email: 'o@example.com', name: 'O', githubId: '1' });
    const origin = { address: undefined };
    const { accessToken } = await fixture.sessions.start({ userId, signedInWith: 'github', origin });
    const { refreshToken } = await fixture.sessions.start({ userId, signedInWith: 'github', origin });
    await fixture.clock.advance(10 * 60_000);
    expect(await fixture.codeOf(await remove(fixture, accessToken, {}))).toBe('accounts.sign_in_again');
    // Refreshing is not signing in.
    const refreshed = await fixture.sessions.refresh(refreshToken, origin);
    expect(await fixture.codeOf(await remove(fixture, refreshed.accessToken, {}))).toBe(
      'accounts.sign_in_again',
    );
    const fresh = await fixture.sessions.start({ userId, signedInWith: 'github', origin });
    expect((await remove(fixture, fresh.accessToken, {})).status).toBe(202);
    await fixture.settle();
  });
});
