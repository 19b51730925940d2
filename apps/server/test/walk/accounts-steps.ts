import type { Step } from './step.ts';

const mine = 'own' as const;
const noInvitation = 'inv_0123456789abcdef01234567';
const answer = { id: 'AA', rawId: 'AA', type: 'public-key', clientExtensionResults: {} };
const noPasskey = {
  ...answer,
  response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA', userHandle: 'AA' },
};
const noNewPasskey = { ...answer, response: { clientDataJSON: 'e30', attestationObject: 'AA' } };
const noProvider = { anything: 'there is no provider' };
const everybody = { anything: 'it is the same for everybody' };
// Neither provider nor Stripe is configured in the walk: who may ask is decided before that is known.
const unconfigured = { status: 501, stranger: { anything: 'it answers nobody' } };

export const accountsSteps: readonly Step[] = [
  { operation: 'accounts.listPlans', as: 'nobody', stranger: everybody },
  { operation: 'accounts.jwks', as: 'nobody', stranger: everybody },
  { operation: 'accounts.listProviders', as: 'nobody', stranger: everybody },
  {
    operation: 'accounts.signUp',
    as: 'nobody',
    body: { email: 'third@example.com', password: 'correct horse battery', name: 'Third', cookie: false },
    status: 201,
    stranger: { anything: 'the address is taken by then' },
  },
  {
    operation: 'accounts.logIn',
    as: 'nobody',
    body: { email: 'owner@example.com', password: 'correct horse battery owner', cookie: false },
    stranger: { anything: 'anyone who knows the password is the owner' },
    keep: (fixture, answer) => {
      const tokens = answer.json as { refresh_token: string; session_id: string };
      fixture.known.set('refresh_token', tokens.refresh_token).set('sessionId', tokens.session_id);
    },
  },
  {
    operation: 'accounts.refresh',
    as: 'nobody',
    body: { refresh_token: '{refresh_token}' },
    stranger: { anything: 'anyone who has the token is the owner' },
  },
  // The walk's server sends no mail.
  {
    operation: 'accounts.requestPasswordReset',
    as: 'nobody',
    body: { email: 'owner@example.com' },
    ...unconfigured,
  },
  {
    operation: 'accounts.requestSignUp',
    as: 'nobody',
    body: { email: 'fourth@example.com', password: 'seven green umbrellas', name: 'Fourth' },
    ...unconfigured,
  },
  {
    operation: 'accounts.finishSignUp',
    as: 'nobody',
    body: { token: 'usr_owner.invented', password: 'seven green umbrellas', cookie: false },
    status: 400,
    stranger: { anything: 'anyone who has the token and the password signs up' },
  },
  {
    operation: 'accounts.showUnsubscribe',
    as: 'nobody',
    query: { token: 'invented' },
    stranger: everybody,
  },
  {
    operation: 'accounts.unsubscribe',
    as: 'nobody',
    query: { token: 'invented' },
    body: 'List-Unsubscribe=One-Click',
    stranger: everybody,
  },
  {
    operation: 'accounts.finishPasswordReset',
    as: 'nobody',
    body: { token: 'usr_owner.invented', newPassword: 'seven green umbrellas' },
    status: 400,
    stranger: { anything: 'anyone who has the token of the mail is the owner' },
  },
  { operation: 'accounts.sendVerification', ...unconfigured },
  {
    operation: 'accounts.verifyEmail',
    body: { token: 'usr_owner.invented' },
    status: 400,
    stranger: { anything: 'the token belongs to nobody' },
  },
  { operation: 'accounts.changeEmail', body: { email: 'next@example.com' }, ...unconfigured },
  {
    operation: 'accounts.confirmEmail',
    body: { token: 'usr_owner.invented' },
    status: 400,
    stranger: { anything: 'the token belongs to nobody' },
  },
  {
    operation: 'accounts.beginAuthenticator',
    body: { password: 'correct horse battery owner' },
    status: 201,
    stranger: { anything: 'the password is another one' },
  },
  {
    operation: 'accounts.confirmAuthenticator',
    body: { code: 'no code' },
    status: 403,
    stranger: { anything: 'the code belongs to nobody' },
  },
  {
    operation: 'accounts.removeAuthenticator',
    body: { password: 'correct horse battery owner' },
    status: 409,
    stranger: { anything: 'nobody has one' },
  },
  {
    operation: 'accounts.renewRecoveryCodes',
    status: 409,
    stranger: { anything: 'nobody has some' },
  },
  {
    operation: 'accounts.stepUp',
    body: { code: '123456' },
    status: 409,
    stranger: { anything: 'nobody has a second factor' },
  },
  { operation: 'accounts.beginPasskeySignIn', as: 'nobody', stranger: everybody },
  {
    operation: 'accounts.signInWithPasskey',
    as: 'nobody',
    body: { passkey: noPasskey, cookie: false },
    status: 403,
    stranger: { anything: 'the passkey belongs to nobody' },
  },
  {
    operation: 'accounts.beginPasskey',
    body: { password: 'correct horse battery owner' },
    status: 201,
    stranger: { anything: 'the password is another one' },
  },
  {
    operation: 'accounts.addPasskey',
    body: { name: 'Phone', passkey: noNewPasskey },
    status: 403,
    stranger: { anything: 'nobody asked for the challenge' },
  },
  { operation: 'accounts.listPasskeys', stranger: mine },
  {
    operation: 'accounts.renamePasskey',
    path: { passkeyId: `pky_${'0'.repeat(32)}` },
    body: { name: 'Phone' },
    status: 404,
    stranger: { anything: 'nobody has it' },
  },
  {
    operation: 'accounts.removePasskey',
    path: { passkeyId: `pky_${'0'.repeat(32)}` },
    body: { password: 'correct horse battery owner' },
    status: 404,
    stranger: { anything: 'the password is another one' },
  },
  { operation: 'accounts.beginPasskeyStepUp', status: 409, stranger: { anything: 'nobody has one' } },
  { operation: 'accounts.readOrganisation', stranger: mine },
  { operation: 'accounts.renameOrganisation', body: { name: 'Ours' }, stranger: mine },
  {
    operation: 'accounts.listMembers',
    stranger: mine,
    keep: (fixture, answer) => {
      const [first] = (answer.json as { data: { userId: string }[] }).data;
      fixture.known.set('userId', first!.userId).set('accountId', first!.userId);
    },
  },
  { operation: 'accounts.readOrganisationProvider', status: 404, stranger: noProvider },
  {
    operation: 'accounts.changeOrganisationProvider',
    body: {
      issuer: 'https://169.254.169.254',
      clientId: 'stak',
      clientSecret: 'a secret',
      domains: ['example.com'],
      defaultRole: 'viewer',
    },
    status: 400,
    stranger: { anything: 'nobody reaches that network' },
  },
  { operation: 'accounts.testOrganisationProvider', status: 404, stranger: noProvider },
  { operation: 'accounts.removeOrganisationProvider', status: 404, stranger: noProvider },
  { operation: 'accounts.readOrganisationSignIn', as: 'nobody', status: 404, stranger: noProvider },
  { operation: 'accounts.startOrganisationSignIn', as: 'nobody', status: 404, stranger: noProvider },
  { operation: 'accounts.finishOrganisationSignIn', as: 'nobody', status: 400, stranger: noProvider },
  {
    operation: 'accounts.linkOrganisationProvider',
    body: { password: 'correct horse battery owner' },
    status: 404,
    stranger: { anything: 'the password is another one' },
  },
  { operation: 'accounts.unlinkOrganisationProvider', status: 404, stranger: noProvider },
  { operation: 'accounts.listOrganisations', stranger: mine },
  {
    operation: 'accounts.createOrganisation',
    body: { name: 'Ours elsewhere' },
    status: 201,
    stranger: mine,
  },
  // The owner is alone: there is nobody to hand anything over to. With others: organisations.test.ts.
  { operation: 'accounts.changeMemberRole', body: { role: 'viewer' }, status: 409 },
  { operation: 'accounts.removeMember', status: 409 },
  { operation: 'accounts.leaveOrganisation', status: 409 },
  {
    operation: 'accounts.transferOwnership',
    body: { password: 'correct horse battery owner' },
    stranger: { anything: 'the password is another one' },
  },
  {
    operation: 'accounts.switchOrganisation',
    body: { accountId: '{accountId}', cookie: false },
    keep: (fixture, answer) => {
      fixture.owner.session = (answer.json as { access_token: string }).access_token;
    },
  },
  { operation: 'accounts.listInvitations', stranger: mine },
  { operation: 'accounts.invite', body: { email: 'walked@example.com', role: 'member' }, ...unconfigured },
  { operation: 'accounts.resendInvitation', path: { invitationId: noInvitation }, ...unconfigured },
  { operation: 'accounts.withdrawInvitation', path: { invitationId: noInvitation }, status: 404 },
  {
    operation: 'accounts.readInvitation',
    as: 'nobody',
    body: { token: 'usr_owner.invented' },
    status: 400,
    stranger: { anything: 'anyone who has the token of the mail was invited' },
  },
  {
    operation: 'accounts.acceptInvitation',
    body: { token: 'usr_owner.invented' },
    status: 400,
    stranger: { anything: 'the token belongs to nobody' },
  },
  { operation: 'accounts.whoAmI', stranger: mine },
  { operation: 'accounts.getMe', stranger: mine },
  { operation: 'accounts.updateMe', body: { name: 'Owner again' }, stranger: mine },
  { operation: 'accounts.getUsage', stranger: mine },
  { operation: 'accounts.readBilling', ...unconfigured },
  { operation: 'accounts.startCheckout', body: { plan: 'pro' }, ...unconfigured },
  { operation: 'accounts.openBillingPortal', body: {}, ...unconfigured },
  { operation: 'accounts.takeStripeEvent', as: 'nobody', body: {}, ...unconfigured },
  { operation: 'accounts.startProviderSignIn', as: 'nobody', path: { provider: 'github' }, ...unconfigured },
  { operation: 'accounts.finishProviderSignIn', as: 'nobody', path: { provider: 'github' }, ...unconfigured },
  { operation: 'accounts.linkProvider', path: { provider: 'github' }, body: {}, ...unconfigured },
  {
    operation: 'accounts.unlinkProvider',
    path: { provider: 'github' },
    status: 404,
    stranger: { anything: 'nobody has linked anything' },
  },
  {
    operation: 'accounts.createKey',
    body: { name: 'walk', permissions: 'read' },
    status: 201,
    stranger: mine,
    keep: (fixture, answer) => void fixture.known.set('keyId', (answer.json as { keyId: string }).keyId),
  },
  { operation: 'accounts.listKeys', stranger: mine },
  { operation: 'accounts.deleteKey' },
  {
    operation: 'accounts.save',
    path: { kind: 'events', name: 'Failed today' },
    body: { text: 'status=failed&last=24h' },
    stranger: mine,
  },
  { operation: 'accounts.listSaved', path: { kind: 'events' }, stranger: mine },
  {
    operation: 'accounts.removeSaved',
    path: { kind: 'events', name: 'Failed today' },
    stranger: mine,
  },
  { operation: 'accounts.listSessions', stranger: mine },
  { operation: 'accounts.endSession' },
  { operation: 'accounts.readProtectedResource', as: 'nobody', stranger: everybody },
  { operation: 'accounts.readAuthorizationServer', as: 'nobody', stranger: everybody },
  {
    operation: 'accounts.registerApp',
    as: 'nobody',
    body: { redirect_uris: ['https://app.example/callback'], client_name: 'Walker' },
    status: 201,
    stranger: { anything: 'everybody gets a client of their own' },
    keep: (fixture, answer) =>
      void fixture.known.set('client_id', (answer.json as { client_id: string }).client_id),
  },
  {
    operation: 'accounts.authorizeApp',
    as: 'nobody',
    query: {
      client_id: '{client_id}',
      redirect_uri: 'https://app.example/callback',
      response_type: 'code',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    },
    status: 302,
    stranger: { anything: 'anyone may ask; a person decides' },
    keep: (fixture, answer) => {
      const { searchParams } = new URL(answer.headers.get('location')!, 'http://stak.example');
      fixture.known.set('app_request', searchParams.get('request')!);
    },
  },
  {
    operation: 'accounts.readAppRequest',
    body: { request: '{app_request}' },
    stranger: { anything: 'the page asks each person about their own organisation' },
  },
  {
    operation: 'accounts.decideAppRequest',
    body: { request: '{app_request}', accountId: '{accountId}', approved: true },
    stranger: { anything: 'the organisation is another one' },
  },
  {
    operation: 'accounts.grantAppTokens',
    as: 'nobody',
    body: {},
    status: 400,
    stranger: { anything: 'there is no code in it' },
  },
  {
    operation: 'accounts.revokeAppToken',
    as: 'nobody',
    body: {},
    status: 400,
    stranger: { anything: 'there is no token in it' },
  },
  { operation: 'accounts.listApps', stranger: mine },
  {
    operation: 'accounts.endApp',
    path: { userId: '{accountId}', sessionId: 'ses_none' },
    status: 404,
    stranger: { anything: 'there is no such app' },
  },
  { operation: 'accounts.listAudit', stranger: mine },
  { operation: 'accounts.exportAudit', stranger: mine },
  {
    operation: 'accounts.download',
    as: 'session',
    body: { passphrase: 'correct horse battery' },
    stranger: mine,
  },
  { operation: 'accounts.mintInboxToken', status: 201, stranger: mine },
];

// They end what the other steps need: they come last, and no stranger tries them with the owner's credentials.
const ending = { anything: 'it ends what is the caller’s own, which others have shown to be theirs' };

export const lastSteps: readonly Step[] = [
  {
    operation: 'accounts.changePassword',
    body: { currentPassword: 'correct horse battery owner', newPassword: 'another horse battery' },
    stranger: ending,
  },
  { operation: 'accounts.logOut', as: 'session', stranger: ending },
  {
    operation: 'accounts.logIn',
    as: 'nobody',
    body: { email: 'owner@example.com', password: 'another horse battery', cookie: false },
    stranger: ending,
    keep: (fixture, answer) => {
      fixture.owner.session = (answer.json as { access_token: string }).access_token;
    },
  },
  { operation: 'accounts.endSessions', stranger: ending },
  {
    operation: 'accounts.logIn',
    as: 'nobody',
    body: { email: 'owner@example.com', password: 'another horse battery', cookie: false },
    stranger: ending,
    keep: (fixture, answer) => {
      fixture.owner.session = (answer.json as { access_token: string }).access_token;
    },
  },
  { operation: 'accounts.deleteMe', body: { password: 'another horse battery' }, stranger: ending },
];
