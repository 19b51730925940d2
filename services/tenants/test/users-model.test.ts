import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyItem, type Fixture, openFixture } from './tenants-fixture.ts';

type ModelUser = { email?: string; channel_identities: Record<string, string> };
type Model = Map<string, ModelUser>;

const id = fc.constantFrom('a', 'b', 'c', 'd');
const email = fc.constantFrom('one@example.com', 'ONE@example.com', 'two@example.com', 'three@example.com');
const channel = fc.constantFrom('slack', 'teams');
const identity = fc.constantFrom('X', 'Y', 'Z');
const action = fc.oneof(
  fc.record({
    kind: fc.constant('create' as const),
    id,
    email: fc.option(email, { nil: undefined }),
    channel_identities: fc.dictionary(channel, identity, { noNullPrototype: true }),
  }),
  fc.record({
    kind: fc.constant('patch' as const),
    id,
    email: fc.option(fc.option(email, { nil: null }), { nil: undefined }),
    channel_identities: fc.dictionary(channel, fc.option(identity, { nil: null }), { noNullPrototype: true }),
  }),
  fc.record({ kind: fc.constant('delete' as const), id }),
);

// Whether another user has the address or one of the identities.
function isTaken(model: Model, self: string, wanted: ModelUser): boolean {
  return [...model].some(
    ([other, held]) =>
      other !== self &&
      ((wanted.email !== undefined && held.email?.toLowerCase() === wanted.email.toLowerCase()) ||
        Object.entries(wanted.channel_identities).some(
          ([name, value]) => held.channel_identities[name] === value,
        )),
  );
}

describe('users', () => {
  let fixture: Fixture;
  let round = 0;
  beforeAll(async () => {
    fixture = await openFixture();
  });
  afterAll(() => fixture.target.close());

  // The model is a Map. Users, what they hold and what is found by it agree with it after every action.
  it('match a plain model', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 15 }), async actions => {
        const tenant_id = `model-${round++}`;
        const base = `/v1/tenants/${tenant_id}/users`;
        await fixture.call('POST', '/v1/tenants', { send: { tenant_id, name: 'X' } });
        const model: Model = new Map();
        for (const action of actions) expect(await act(fixture, base, action)).toBe(expected(model, action));

        const locks = [...model].flatMap(([user, held]) => [
          ...(held.email === undefined ? [] : [`EMAIL#${held.email.toLowerCase()} ${user}`]),
          ...Object.entries(held.channel_identities).map(([name, value]) => `IDENT#${name}#${value} ${user}`),
        ]);
        const stored = (await everyItem(fixture.target)).filter(item => item.pk === `TENANT#${tenant_id}`);
        const held = stored.filter(({ sk }) => /^(EMAIL|IDENT)#/.test(String(sk)));
        expect(held.map(item => `${item.sk} ${item.user_id}`).sort()).toEqual(locks.sort());
        const { data } = (await fixture.call('GET', base)).body;
        const shown = data.map((user: ModelUser & { user_id: string }) => [
          user.user_id,
          user.email,
          user.channel_identities,
        ]);
        const wanted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        expect(shown).toEqual(wanted.map(([user, one]) => [user, one.email, one.channel_identities]));
      }),
      { numRuns: 40 },
    );
  });
});

type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

async function act(fixture: Fixture, base: string, one: Action): Promise<number> {
  if (one.kind === 'delete') return (await fixture.call('DELETE', `${base}/${one.id}`)).status;
  const { email: address, channel_identities } = one;
  if (one.kind === 'patch') {
    const send = { email: address, channel_identities };
    return (await fixture.call('PATCH', `${base}/${one.id}`, { send, ifMatch: '*' })).status;
  }
  const send = { user_id: one.id, display_name: 'X', email: address, channel_identities };
  return (await fixture.call('POST', base, { send })).status;
}

// The status the model expects, and the change it makes of it.
function expected(model: Model, one: Action): number {
  const before = model.get(one.id);
  if (one.kind === 'delete') return model.delete(one.id) ? 204 : 404;
  if (one.kind === 'create') {
    const { email: address, channel_identities } = one;
    const wanted = { ...(address && { email: address }), channel_identities };
    if (before || isTaken(model, one.id, wanted)) return 409;
    model.set(one.id, wanted);
    return 201;
  }
  if (!before) return 404;
  const identities = { ...before.channel_identities, ...one.channel_identities };
  const kept = Object.entries(identities).filter((entry): entry is [string, string] => entry[1] !== null);
  const address = one.email === undefined ? before.email : (one.email ?? undefined);
  const wanted = {
    ...(address !== undefined && { email: address }),
    channel_identities: Object.fromEntries(kept),
  };
  if (isTaken(model, one.id, wanted)) return 409;
  model.set(one.id, wanted);
  return 200;
}
