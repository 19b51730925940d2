import { createHash } from 'node:crypto';
import { seededRandom } from '@stak/kit';
import { createAdversary } from '@stak/table/adversary';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emailLock, keyByHashIndex, userByEmailIndex } from '../src/main-table.ts';
import { type Engine, type Serving, serve } from './open-accounts.ts';

// The document's data access interface, pattern by pattern.
export function testAccess(name: string, open: () => Promise<Engine>): void {
  describe(`data access over ${name}`, () => {
    let engine: Engine;
    let fixture: Serving;
    beforeEach(async () => {
      engine = await open();
      fixture = serve(engine);
    });
    afterEach(async () => {
      await fixture.settle();
      await engine.close();
    });

    const ann = { email: 'Ann@Example.com ', name: 'Ann' };

    it('creates users and finds them by id and by e-mail, whatever its case', async () => {
      const { users, store } = fixture;
      const made = await users.create(ann);
      expect(made).toMatchObject({ email: 'ann@example.com', plan: 'free', usageThisMonth: 0, version: 1 });
      expect(made.usagePeriodStart).toBe('2026-01-01');
      expect(await users.getById(made.userId)).toEqual(made);
      expect(await users.getByEmail('ANN@example.com')).toEqual(made);
      expect(await users.getById('usr_none')).toBeNull();
      expect(await users.getByEmail('none@example.com')).toBeNull();
      expect(await users.getByEmail('no address')).toBeNull();
      // The document's own index, for programs that still read it.
      const { items } = await store.query(userByEmailIndex, { email: 'ann@example.com' });
      expect(items).toMatchObject([{ userId: made.userId }]);
    });

    it('updates a user, moves the locks, and removes attributes set to null', async () => {
      const { users, store } = fixture;
      const { userId } = await users.create({ ...ann, githubId: 'gh1' });
      await users.create({ email: 'bob@example.com', name: 'Bob', googleId: 'go2' });

      const moved = await users.update(userId, { email: 'Ann@New.example', name: 'Anne', plan: 'pro' });
      expect(moved).toMatchObject({ email: 'ann@new.example', name: 'Anne', plan: 'pro', version: 2 });
      expect(await store.get(emailLock, { email: 'ann@example.com' })).toBeUndefined();
      expect(await users.getByEmail('ann@new.example')).toMatchObject({ userId });
      expect(await users.getByEmail('ann@example.com')).toBeNull();

      await expect(users.update(userId, { email: 'bob@example.com' })).rejects.toMatchObject({
        code: 'accounts.email_taken',
      });
      await expect(users.update(userId, { googleId: 'go2' })).rejects.toMatchObject({
        code: 'accounts.identity_taken',
      });
      expect((await users.update(userId, { githubId: null })).githubId).toBeUndefined();
      expect(await users.getByUnique('githubId', 'gh1')).toBeNull();
      await users.update(userId, { stripeCustomerId: 'cus_1' });
      expect(await users.getByUnique('stripeCustomerId', 'cus_1')).toMatchObject({ userId });
      await expect(users.update(userId, { name: 'Late' }, { ifVersion: 1 })).rejects.toMatchObject({
        code: 'accounts.changed',
      });
      await expect(users.update('usr_none', { name: 'Nobody' })).rejects.toMatchObject({
        code: 'accounts.user_not_found',
      });
    });

    it('creates, finds, lists and deletes keys', async () => {
      const { users, apiKeys, store } = fixture;
      const { userId } = await users.create(ann);
      const { key, apiKey } = await apiKeys.create(userId, { name: 'Production', permissions: 'write' });
      expect(key).toMatch(/^stak_[0-9A-Za-z]{40}$/);
      const keyHash = createHash('sha256').update(key).digest('hex');
      expect(apiKey).toMatchObject({ keyHash, keyPrefix: key.slice(0, 11), permissions: 'write' });
      expect(JSON.stringify(apiKey)).not.toContain(key);

      expect(await apiKeys.getByHash(keyHash)).toEqual(apiKey);
      expect(await apiKeys.getByHash('0'.repeat(64))).toBeNull();
      expect(await apiKeys.listByUser(userId)).toEqual([apiKey]);
      expect((await store.query(keyByHashIndex, { keyHash })).items).toEqual([apiKey]);

      const bob = await users.create({ email: 'bob@example.com', name: 'Bob' });
      const notFound = { code: 'accounts.key_not_found' };
      await expect(apiKeys.delete(apiKey.keyId, bob.userId)).rejects.toMatchObject(notFound);
      await apiKeys.delete(apiKey.keyId, userId);
      expect(await apiKeys.getByHash(keyHash)).toBeNull();
      expect(await apiKeys.listByUser(userId)).toEqual([]);
      await expect(apiKeys.delete(apiKey.keyId, userId)).rejects.toMatchObject(notFound);
    });

    it('records the last use of a key at most once a minute', async () => {
      const { users, apiKeys, clock } = fixture;
      const { userId } = await users.create(ann);
      const { keyId } = (await apiKeys.create(userId, { name: 'k', permissions: 'read' })).apiKey;
      const lastUsed = async () => (await apiKeys.listByUser(userId))[0]?.lastUsedAt;
      const first = new Date(clock.now()).toISOString();
      await apiKeys.updateLastUsed(keyId, userId);
      await clock.advance(59_000);
      await apiKeys.updateLastUsed(keyId, userId);
      expect(await lastUsed()).toBe(first);
      await clock.advance(1_000);
      await apiKeys.updateLastUsed(keyId, userId);
      expect(await lastUsed()).toBe(new Date(clock.now()).toISOString());
      // One that is gone stays gone.
      await apiKeys.updateLastUsed('key_gone', userId);
      expect(await apiKeys.listByUser(userId)).toHaveLength(1);
    });

    it('counts usage by calendar month', async () => {
      const { users, clock } = fixture;
      const { userId } = await users.create(ann);
      await users.incrementUsage(userId);
      await users.incrementUsage(userId, 41);
      expect(await users.getById(userId)).toMatchObject({
        usageThisMonth: 42,
        usagePeriodStart: '2026-01-01',
      });
      clock.set(Date.UTC(2026, 1, 1) - 1);
      await users.incrementUsage(userId);
      expect(await users.getById(userId)).toMatchObject({ usageThisMonth: 43 });
      clock.set(Date.UTC(2026, 1, 1));
      expect(await users.getById(userId)).toMatchObject({
        usageThisMonth: 0,
        usagePeriodStart: '2026-02-01',
      });
    });

    it('counts usage once, even if responses are lost', async () => {
      const client = createAdversary(engine.client, { lostAnswers: 0.2, random: seededRandom(3) });
      const lossy = serve({ ...engine, client });
      const { userId } = await lossy.users.create(ann);
      await Promise.all(Array.from({ length: 40 }, () => lossy.users.incrementUsage(userId)));
      expect(await fixture.users.getById(userId)).toMatchObject({
        usageThisMonth: 40,
        email: 'ann@example.com',
      });
      expect(client.counts.lostAnswers).toBeGreaterThan(5);
    });

    it('reads one month, even if it ends meanwhile', async () => {
      const { userId } = await fixture.users.create(ann);
      await fixture.users.incrementUsage(userId, 42);
      const client: Engine['client'] = {
        ...engine.client,
        batchGet: async input => {
          engine.clock.set(Date.UTC(2026, 1, 1));
          return engine.client.batchGet(input);
        },
      };
      expect(await serve({ ...engine, client }).usage.read(userId)).toEqual({
        usageThisMonth: 42,
        usagePeriodStart: '2026-01-01',
      });
    });
  });
}
