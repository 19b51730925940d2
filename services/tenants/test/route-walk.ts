import { fillTenant } from './erasure-fixture.ts';
import { type Fixture, openFixture } from './tenants-fixture.ts';

type RouteOf = Fixture['routes'][number];
export type Step = { id: string; route: RouteOf; method: string; path: string; send?: object };

// A request to every route that would succeed for the owner of `tenant`.
const bodies: Readonly<Record<string, object>> = {
  'tenants.create': { name: 'New', tenant_id: 'walked' },
  'tenants.update': { name: 'Renamed' },
  'tenants.replaceSettings': { messages_per_day: 1 },
  'tenants.updateSettings': { messages_per_day: 1 },
  'tenants.putPropertiesSchema': { type: 'object' },
  'tenants.createUser': { user_id: 'planted', display_name: 'Planted' },
  'tenants.updateUser': { display_name: 'Renamed' },
  'tenants.claimChannel': { type: 'slack', channel_id: 'planted' },
  'tenants.createInvitation': { email: 'planted@example.com' },
  'tenants.acceptInvitation': { token: 'x', display_name: 'X' },
  'tenants.mintToken': { sub: 'u1' },
  'tenants.revokeTokens': {},
  'tenants.requestSignIn': { email: 'planted@example.com' },
  'tenants.signIn': { token: 'x' },
  'tenants.joinPortal': { token: 'x', display_name: 'X' },
  'tenants.refreshSession': {},
  'tenants.putPortalProvider': {
    issuer: 'https://login.example.com',
    client_id: 'planted',
    client_secret: 'planted',
    domains: ['example.com'],
  },
  'tenants.updatePortalUser': { display_name: 'X' },
};

export function stepsOf({ routes }: Fixture, ids: Readonly<Record<string, string>>): Step[] {
  return routes
    .filter(route => route.path.startsWith('/v1/'))
    .map(route => {
      const id = route.operationId!;
      const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name]!));
      const send = bodies[id];
      if ((send !== undefined) !== (route.request?.body !== undefined)) throw new Error(`${id} has no body`);
      return { id, route, method: route.method.toUpperCase(), path, send };
    });
}

export const walk = (fixture: Fixture, { method, path, send, route }: Step, as: string) =>
  fixture.call(method, path, { as, send, ...(route.conditional && { ifMatch: '*' }) });

// Two tenants of two accounts, a user of each with a token, and the names of everything ann has.
export async function openTwo() {
  const fixture = await openFixture();
  await fillTenant(fixture, 'anns');
  await fillTenant(fixture, 'bobs', 'bob');
  const { call } = fixture;
  const [invitation] = (await call('GET', '/v1/tenants/anns/invitations')).body.data;
  const erasure = (await call('POST', '/v1/tenants/anns/users/u3/erasure')).body;
  const ids = {
    tenant_id: 'anns',
    user_id: 'u2',
    type: 'slack',
    channel_id: 'anns-one',
    invitation_id: invitation.invitation_id,
    erasure_id: erasure.erasure_id,
  };
  const send = { sub: 'u2', scope: 'profile:read', ttl_seconds: 60 };
  const mint = async (tenant: string, as: string): Promise<string> =>
    (await call('POST', `/v1/tenants/${tenant}/tokens`, { as, send })).body.token;
  return { fixture, ids, endUser: await mint('bobs', 'bob'), own: await mint('anns', 'ann') };
}
