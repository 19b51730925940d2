import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UserChange } from '../src/index.ts';
import { type Engine, openEmbedded, type Serving, serve } from './open-accounts.ts';

let engine: Engine;
let fixture: Serving;
beforeAll(async () => {
  engine = await openEmbedded();
  fixture = serve(engine);
});
afterAll(() => engine.close());

type Step = { user: number; change: UserChange };
const emails = ['a@example.com', 'b@example.com', 'c@example.com'] as const;
const identity = fc.constantFrom('1', '2', null);
const step: fc.Arbitrary<Step> = fc.record({
  user: fc.nat(2),
  change: fc.record(
    {
      email: fc.constantFrom(...emails),
      githubId: identity,
      googleId: identity,
      name: fc.constantFrom('x', 'y'),
    },
    { requiredKeys: ['name'] },
  ),
});

describe('users and their locks', () => {
  // Whatever happens, also at the same time: an address or identity leads to the user who has it, and to no other.
  it('always agree', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 5 }),
        async rounds => {
          // Each run has addresses and ids of its own, so that the runs share one table.
          const tag = `r${run++}`;
          const own = ({ email, githubId, googleId, ...rest }: UserChange): UserChange => ({
            ...rest,
            ...(email !== undefined && { email: `${tag}${email}` }),
            ...(githubId !== undefined && { githubId: githubId && tag + githubId }),
            ...(googleId !== undefined && { googleId: googleId && tag + googleId }),
          });
          const ids: string[] = [];
          for (const i of [0, 1, 2])
            ids.push((await fixture.users.create({ email: `${tag}${i}@start.example`, name: 'n' })).userId);

          for (const round of rounds)
            await Promise.allSettled(
              round.map(({ user, change }) => fixture.users.update(ids[user]!, own(change))),
            );

          const users = await Promise.all(ids.map(async userId => (await fixture.users.getById(userId))!));
          for (const email of emails)
            expect((await fixture.users.getByEmail(tag + email))?.userId).toBe(
              users.find(one => one.email === tag + email)?.userId,
            );
          for (const unique of ['githubId', 'googleId'] as const)
            for (const value of ['1', '2']) {
              const holders = users.filter(one => one[unique] === tag + value);
              expect(holders.length).toBeLessThan(2);
              expect((await fixture.users.getByUnique(unique, tag + value))?.userId).toBe(holders[0]?.userId);
            }
          for (const one of users)
            expect((await fixture.users.getByEmail(one.email))?.userId).toBe(one.userId);
        },
      ),
      { numRuns: 40 },
    );
  });
});
