import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownedPerPerson } from '../src/access/limits.ts';
import { member, organisationsOf } from '../src/access/tables.ts';
import * as limits from '../src/limits.ts';
import { type Engine, password, type Serving, serve, type Tokens } from './open-accounts.ts';

const times = (count: number) => Array.from({ length: count }, (_, i) => i);

// Two servers on one table, doing the same thing at the same time.
export function testRaces(name: string, open: () => Promise<Engine>): void {
  describe(`races over ${name}`, () => {
    let engine: Engine;
    let servers: [Serving, Serving];
    const pick = (i: number): Serving => servers[i % 2]!;
    beforeEach(async () => {
      engine = await open();
      servers = [serve(engine), serve(engine)];
    });
    afterEach(async () => {
      for (const one of servers) await one.settle();
      await engine.close();
    });

    it('gives an e-mail address to one of fifty concurrent sign-ups', async () => {
      const results = await Promise.allSettled(
        times(50).map(i =>
          pick(i).users.create({ email: i % 2 ? 'ann@example.com' : 'ANN@example.com', name: `${i}` }),
        ),
      );
      const won = results.filter(one => one.status === 'fulfilled');
      expect(won).toHaveLength(1);
      for (const one of results)
        if (one.status === 'rejected') expect(one.reason.code).toMatch(/accounts\.email_taken|table\.busy/);
      expect(await pick(0).users.getByEmail('ann@example.com')).toMatchObject({
        userId: won[0]!.value.userId,
      });
    });

    it('gives an identity to one of twenty concurrent links', async () => {
      const users = await Promise.all(
        times(20).map(i => pick(i).users.create({ email: `u${i}@example.com`, name: 'U' })),
      );
      const results = await Promise.allSettled(
        users.map(({ userId }, i) => pick(i).users.update(userId, { githubId: 'gh7' })),
      );
      expect(results.filter(one => one.status === 'fulfilled')).toHaveLength(1);
    });

    it('keeps the limits of keys and organisations', async () => {
      const { access_token: as } = await pick(0).signUp('ann@example.com');
      const { userId } = (await pick(0).users.getByEmail('ann@example.com'))!;
      await pick(0).users.update(userId, { emailVerified: true });
      const near = serve({ ...engine, client: engine.near });
      for (const _ of times(limits.apiKeysPerUser - 2))
        await near.apiKeys.create(userId, { name: 'k', permissions: 'read' });
      const made = await Promise.allSettled(
        times(8).map(i => pick(i).apiKeys.create(userId, { name: 'k', permissions: 'read' })),
      );
      expect(made.filter(one => one.status === 'fulfilled')).toHaveLength(2);
      for (const one of made)
        if (one.status === 'rejected') expect(one.reason.code).toBe('accounts.too_many_keys');
      const send = { name: 'Org' };
      const answers = await Promise.all(
        times(ownedPerPerson + 5).map(i => pick(i).call('POST', '/v1/organisations', { as, send })),
      );
      const statuses = answers.map(answer => answer.status).sort();
      expect(statuses).toEqual([...Array(ownedPerPerson - 1).fill(201), ...Array(6).fill(409)]);
    });

    it('creates one organisation for a person without any, however often they sign in before it is listed', async () => {
      type Session = { account_id: string };
      await pick(0).signUp('ann@example.com');
      const { userId } = (await pick(0).users.getByEmail('ann@example.com'))!;
      const left = { accountId: userId, userId, joinedAt: new Date(engine.clock.now()).toISOString() };
      await pick(0).store.put(member, left);
      // The index does not know of anything yet.
      const query: typeof engine.client.query = async input =>
        input.IndexName === 'GSI1' ? { Items: [], Count: 0 } : engine.client.query(input);
      const late = { ...engine, client: { ...engine.client, query } };
      const slow = [serve(late), serve(late)];
      const logIn = async (i: number) =>
        ((await (await slow[i % 2]!.logIn('ann@example.com')).json()) as Session).account_id;
      const homes = await Promise.all(times(8).map(logIn));
      homes.push(await logIn(0));
      expect(homes[0]).toMatch(/^org_/);
      expect(new Set(homes).size).toBe(1);
      for (const one of slow) await one.settle();
      const { items } = await pick(0).store.query(organisationsOf, { userId });
      expect(items.map(one => one.accountId).filter(id => id !== userId)).toEqual([homes[0]]);
    });

    it('counts two hundred increments as two hundred', async () => {
      const { userId } = await pick(0).users.create({ email: 'ann@example.com', name: 'Ann' });
      await Promise.all(times(200).map(i => pick(i).users.incrementUsage(userId, (i % 3) + 1)));
      const expected = times(200).reduce((sum, i) => sum + (i % 3) + 1, 0);
      expect(await pick(1).users.getById(userId)).toMatchObject({ usageThisMonth: expected });
    });

    it('gives concurrent refreshes of one token the same next token', async () => {
      const { refresh_token } = await pick(0).signUp('ann@example.com');
      const answers = await Promise.all(times(10).map(i => pick(i).refresh(refresh_token)));
      expect(answers.map(answer => answer.status)).toEqual(times(10).map(() => 200));
      const tokens = (await Promise.all(answers.map(answer => answer.json()))) as Tokens[];
      expect(new Set(tokens.map(one => one.refresh_token)).size).toBe(1);
      expect((await pick(0).refresh(tokens[0]!.refresh_token)).status).toBe(200);
    });

    it('creates one pair of signing keys, whichever server is first', async () => {
      const more = [...servers, serve(engine), serve(engine), serve(engine)];
      const sets = await Promise.all(
        more.map(
          async one =>
            (await (await one.call('GET', '/.well-known/jwks.json')).json()) as { keys: { kid: string }[] },
        ),
      );
      const kids = sets.map(({ keys }) => keys.map(key => key.kid));
      expect(kids[0]).toHaveLength(2);
      for (const others of kids) expect(others).toEqual(kids[0]);
    });

    it('opens no session with a password that is being changed', async () => {
      const fixture = pick(0);
      const { access_token } = await fixture.signUp('ann@example.com');
      const send = { currentPassword: 'correct horse battery', newPassword: 'another horse battery' };
      const [changed] = await Promise.all([
        fixture.call('POST', '/v1/me/password', { as: access_token, send }),
        ...times(8).map(i => pick(i).logIn('ann@example.com')),
      ]);
      expect(changed.status).toBe(204);
      const sessions = await fixture.call('GET', '/v1/sessions', { as: access_token });
      expect(((await sessions.json()) as { data: unknown[] }).data).toHaveLength(1);
    });

    // Each time that the owner's server is about to write, the thief's has just exchanged their session for another.
    const stealSession = async (switches: number) => {
      type Session = Tokens & { account_id: string };
      await pick(0).signUp('ann@example.com');
      const owner = (await (await pick(0).logIn('ann@example.com')).json()) as Session;
      let thief = (await (await pick(1).logIn('ann@example.com')).json()) as Session;
      let left = 0;
      const transactWrite: typeof engine.client.transactWrite = async (...input) => {
        const send = { accountId: thief.account_id, cookie: false };
        const answer = await (left-- > 0
          ? pick(1).call('POST', '/v1/auth/switch', { as: thief.access_token, send })
          : undefined);
        if (answer?.ok) thief = (await answer.json()) as Session;
        return engine.client.transactWrite(...input);
      };
      const fixture = serve({ ...engine, client: { ...engine.client, transactWrite } });
      return {
        async call(method: string, path: string, send?: object): Promise<number> {
          left = switches;
          const { status } = await fixture.call(method, path, { as: owner.access_token, send });
          await fixture.settle();
          await engine.clock.advance(1_000); // until other processes know
          return status;
        },
        isThiefIn: async () => (await pick(1).refresh(thief.refresh_token)).status === 200,
      };
    };

    it('leaves no session to a thief who keeps switching while all are ended', async () => {
      const { call, isThiefIn } = await stealSession(3);
      expect(await call('DELETE', '/v1/sessions')).toBe(204);
      expect(await isThiefIn()).toBe(false);
    });

    it('changes a password while a thief keeps switching', async () => {
      const { call, isThiefIn } = await stealSession(2);
      const send = { currentPassword: password, newPassword: 'another horse battery' };
      expect(await call('POST', '/v1/me/password', send)).toBe(204);
      expect(await isThiefIn()).toBe(false);
    });
  });
}
