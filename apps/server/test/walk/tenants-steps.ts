import { endUserScopes } from '@stak/tenants';
import type { Answer, Fixture } from './fixture.ts';
import type { Step } from './step.ts';

const keep =
  (...names: string[]) =>
  (fixture: Fixture, answer: Answer) => {
    for (const name of names) fixture.known.set(name, (answer.json as Record<string, string>)[name]!);
  };
const keepEtag = (fixture: Fixture, answer: Answer) =>
  void fixture.known.set('etag', answer.headers.get('etag')!);
const ifMatch = { 'if-match': '{etag}' };

const withoutPortal = {
  status: 404,
  as: 'nobody',
  stranger: { anything: 'there is no mail, so nobody signs in' },
} as const;

// This server sends no mail: what is possible with it is in apps/server/test/portal.test.ts.
const portalSteps: readonly Step[] = [
  { operation: 'tenants.getPortal', ...withoutPortal },
  { operation: 'tenants.requestSignIn', body: { email: 'ann@example.com' }, ...withoutPortal },
  { operation: 'tenants.signIn', body: { token: 'sig_x' }, ...withoutPortal },
  {
    operation: 'tenants.joinPortal',
    body: { token: '{invitation_token}', display_name: 'Carl' },
    ...withoutPortal,
  },
  {
    operation: 'tenants.putPortalProvider',
    body: {
      issuer: 'http://127.0.0.1:65533',
      client_id: 'walk',
      client_secret: 'a secret',
      domains: ['example.com'],
    },
  },
  { operation: 'tenants.getPortalProvider' },
  { operation: 'tenants.testPortalProvider' },
  {
    operation: 'tenants.startPortalSignIn',
    as: 'nobody',
    status: 502,
    stranger: { anything: 'the provider of the walk does not exist' },
  },
  {
    operation: 'tenants.finishPortalSignIn',
    as: 'nobody',
    status: 302,
    stranger: { anything: 'it sends everybody to the portal' },
  },
  { operation: 'tenants.deletePortalProvider', status: 204 },
  { operation: 'tenants.refreshSession', body: {}, ...withoutPortal, status: 401 },
  { operation: 'tenants.signOut', ...withoutPortal, status: 204 },
  { operation: 'tenants.getPortalUser', as: 'endUser' },
  { operation: 'tenants.updatePortalUser', body: { display_name: 'Walked Ann' }, as: 'endUser' },
  { operation: 'tenants.listUsers', as: 'endUser' },
  { operation: 'tenants.get', as: 'endUser' },
  { operation: 'tenants.getSettings', as: 'endUser', keep: keepEtag },
  {
    operation: 'tenants.updateSettings',
    as: 'endUser',
    headers: ifMatch,
    body: { portal_name: 'Walked portal' },
  },
];

export const tenantsSteps: readonly Step[] = [
  {
    operation: 'tenants.create',
    body: { tenant_id: 'walked', name: 'Walked', status: 'active' },
    status: 201,
    // The stranger's attempt comes first, and would take the name: it asks for one of its own.
    stranger: { anything: 'a tenant belongs to its creator' },
    keep: keep('tenant_id'),
  },
  { operation: 'tenants.list', stranger: 'own' },
  { operation: 'tenants.get' },
  { operation: 'tenants.update', body: { name: 'Walked on' } },
  { operation: 'tenants.getSettings', keep: keepEtag },
  { operation: 'tenants.replaceSettings', headers: ifMatch, body: { messages_per_day: 10 }, keep: keepEtag },
  { operation: 'tenants.updateSettings', headers: ifMatch, body: { messages_per_day: 20 } },
  {
    operation: 'tenants.putPropertiesSchema',
    body: { type: 'object', properties: { team: { type: 'string' } } },
  },
  { operation: 'tenants.getPropertiesSchema' },
  {
    operation: 'tenants.createUser',
    body: { user_id: 'ann', display_name: 'Ann', email: 'ann@example.com', role: 'admin' },
    status: 201,
    keep: (fixture, answer) => {
      keep('user_id')(fixture, answer);
      keepEtag(fixture, answer);
    },
  },
  { operation: 'tenants.listUsers' },
  { operation: 'tenants.getUser', keep: keepEtag },
  { operation: 'tenants.updateUser', headers: ifMatch, body: { display_name: 'Ann B.' } },
  { operation: 'tenants.exportUser' },
  {
    operation: 'tenants.mintToken',
    body: { sub: 'ann', scope: endUserScopes.join(' ') },
    status: 201,
    keep: (fixture, answer) =>
      void fixture.known.set('end_user_token', (answer.json as { token: string }).token),
  },
  { operation: 'tenants.getUser', as: 'endUser' },
  {
    operation: 'tenants.claimChannel',
    body: { type: 'slack', channel_id: 'T01' },
    status: 201,
    keep: keep('type', 'channel_id'),
  },
  { operation: 'tenants.listChannels' },
  { operation: 'tenants.releaseChannel' },
  {
    operation: 'tenants.createInvitation',
    body: { email: 'bob@example.com', user_id: 'bob' },
    status: 201,
    keep: (fixture, answer) => {
      keep('invitation_id')(fixture, answer);
      fixture.known.set('invitation_token', (answer.json as { token: string }).token);
    },
  },
  { operation: 'tenants.listInvitations' },
  {
    operation: 'tenants.acceptInvitation',
    as: 'nobody',
    body: { token: '{invitation_token}', display_name: 'Bob' },
    status: 201,
    stranger: { anything: 'the token is the invitation' },
  },
  {
    operation: 'tenants.createInvitation',
    body: { email: 'carl@example.com', user_id: 'carl' },
    status: 201,
    keep: keep('invitation_id'),
  },
  { operation: 'tenants.revokeInvitation' },
  { operation: 'tenants.deletePropertiesSchema' },
  ...portalSteps,
];

// These take the tenant apart, after every service has had its turn.
export const closingTenantsSteps: readonly Step[] = [
  { operation: 'tenants.revokeTokens', body: { sub: 'bob' } },
  { operation: 'tenants.eraseUser', path: { user_id: 'bob' }, status: 202, keep: keep('erasure_id') },
  { operation: 'tenants.getErasure' },
  { operation: 'tenants.deleteUser', path: { user_id: 'ann' } },
  { operation: 'tenants.delete', status: 202 },
];
