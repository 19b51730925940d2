import { empty, endpoint, json, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import { accountsErrors } from '../../errors.ts';
import type { Session } from '../../main-table.ts';
import { originOf } from '../../origin.ts';
import {
  codeSchema,
  cookieSchema,
  emailSchema,
  nameSchema,
  passwordSchema,
  sessionSchema,
  tokensSchema,
  triedPasswordSchema,
} from '../../schema.ts';
import { mailedTokenSchema } from '../credentials/mailed-tokens.ts';
import { passkeyAnswerSchema } from '../credentials/passkey-schema.ts';
import type { FactorProof } from '../credentials/second-factor.ts';
import type { Browser } from '../sessions/browser.ts';
import { deviceName } from './device-name.ts';
import { logIn } from './sign-in.ts';
import { finishSignUp, requestSignUp, type SignUpDeps, signUp } from './sign-up.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const credentials = { email: emailSchema, cookie: cookieSchema };
const tokenLifetime = 'The access token is valid for fifteen minutes. Refresh it before it expires.';

const routes = {
  signUp: route({
    ...common,
    method: 'post',
    path: '/v1/auth/signup',
    operationId: 'accounts.signUp',
    reaches: 'mail',
    audit: 'own',
    stores: 'access',
    auth: 'public',
    summary: 'Create an account and sign in',
    description: `${tokenLifetime} A server that requires confirmed addresses returns \`accounts.sign_up_by_mail\`. Request a mail there instead.`,
    request: { body: json(z.strictObject({ ...credentials, password: passwordSchema, name: nameSchema })) },
    responses: { 201: json(tokensSchema) },
    problems: [
      'accounts.sign_up_by_mail',
      'accounts.email_taken',
      'accounts.password_weak',
      'accounts.origin_refused',
      'accounts.too_many_attempts',
      'accounts.busy',
    ],
  }),
  requestSignUp: route({
    ...common,
    method: 'post',
    path: '/v1/auth/signup/request',
    operationId: 'accounts.requestSignUp',
    reaches: 'mail',
    audit: false,
    stores: 'access',
    auth: 'public',
    summary: 'Request a mail to create an account',
    description:
      'The response is the same for every address. If it has no account, the mail contains a link that works once, for 24 hours. If it has one, the mail tells the owner that someone tried to sign up.',
    request: {
      body: json(z.strictObject({ email: emailSchema, password: passwordSchema, name: nameSchema })),
    },
    responses: { 202: empty('A mail is on its way') },
    problems: [
      'accounts.no_mail',
      'accounts.password_weak',
      'accounts.origin_refused',
      'accounts.too_many_attempts',
      'accounts.busy',
    ],
  }),
  finishSignUp: route({
    ...common,
    method: 'post',
    path: '/v1/auth/signup/finish',
    operationId: 'accounts.finishSignUp',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'public',
    summary: 'Finish signing up with the token from the mail',
    description: `${tokenLifetime} Send the password that you requested the mail with. The address is then verified.`,
    request: {
      body: json(
        z.strictObject({ token: mailedTokenSchema, password: triedPasswordSchema, cookie: cookieSchema }),
      ),
    },
    responses: { 201: json(tokensSchema) },
    problems: [
      'accounts.token_refused',
      'accounts.password_wrong',
      'accounts.email_taken',
      'accounts.origin_refused',
      'accounts.too_many_attempts',
      'accounts.busy',
    ],
  }),
  logIn: route({
    ...common,
    method: 'post',
    path: '/v1/auth/login',
    operationId: 'accounts.logIn',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'public',
    summary: 'Sign in with a password',
    description: `${tokenLifetime} If the account has a second factor, the correct password returns \`accounts.code_required\` with the available \`factors\`. Send the request again with a code or a passkey.`,
    request: {
      body: json(
        z.strictObject({
          ...credentials,
          password: triedPasswordSchema,
          code: codeSchema.optional(),
          passkey: passkeyAnswerSchema.optional(),
        }),
      ),
    },
    responses: { 200: json(tokensSchema) },
    problems: [
      'accounts.credentials_wrong',
      'accounts.code_required',
      'accounts.code_wrong',
      'accounts.passkey_refused',
      'accounts.disabled',
      'accounts.origin_refused',
      'accounts.too_many_attempts',
      'accounts.busy',
    ],
  }),
  refresh: route({
    ...common,
    method: 'post',
    path: '/v1/auth/refresh',
    operationId: 'accounts.refresh',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    auth: 'public',
    summary: 'Exchange a refresh token for new tokens',
    description: 'Each refresh token works once. Using one again ends its session.',
    request: { body: json(z.strictObject({ refresh_token: z.string().max(300).optional() })) },
    responses: { 200: json(tokensSchema) },
    problems: ['accounts.refresh_refused', 'accounts.origin_refused'],
  }),
  logOut: route({
    ...common,
    method: 'post',
    path: '/v1/auth/logout',
    operationId: 'accounts.logOut',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'person',
    summary: 'End this session',
    description: 'Ends the session of the request and clears its cookie.',
    responses: { 204: empty() },
  }),
  listSessions: route({
    ...common,
    ...readsOnly,
    path: '/v1/sessions',
    operationId: 'accounts.listSessions',
    auth: 'person',
    summary: 'List your sessions',
    description: 'A session through the provider of an organisation sees and ends only such sessions.',
    responses: { 200: json(z.strictObject({ data: z.array(sessionSchema), next_cursor: z.null() })) },
  }),
  endSession: route({
    ...common,
    method: 'delete',
    path: '/v1/sessions/{sessionId}',
    operationId: 'accounts.endSession',
    reaches: 'nothing',
    audit: 'own',
    stores: 'deletes',
    auth: 'person',
    summary: 'End one of your sessions',
    description: 'Ends one session. Its tokens stop working at once.',
    request: { params: z.strictObject({ sessionId: z.string().regex(/^ses_[a-z0-9]{1,40}$/) }) },
    responses: { 204: empty() },
    problems: ['accounts.session_not_found'],
  }),
  endSessions: route({
    ...common,
    method: 'delete',
    path: '/v1/sessions',
    operationId: 'accounts.endSessions',
    reaches: 'nothing',
    audit: 'own',
    stores: 'deletes',
    auth: 'person',
    summary: 'End all your sessions',
    description: 'Ends all sessions of the account, the one of this request included.',
    responses: { 204: empty() },
    problems: ['accounts.changed'],
  }),
};

export function createSignInRoutes(deps: SignUpDeps & { browser: Browser }) {
  const { sessions, browser, audit } = deps;
  const show = (
    {
      userId,
      sessionId,
      accountId = userId,
      signedInWith,
      address,
      userAgent,
      createdAt,
      lastUsedAt,
    }: Session,
    own: string,
  ) => ({
    sessionId,
    isCurrent: sessionId === own,
    accountId,
    signedInWith,
    device: deviceName(userAgent),
    address,
    userAgent,
    createdAt,
    lastUsedAt,
  });
  const ended = (
    userId: string,
    by: string,
    target: string,
    requestId: string,
    address: string | undefined,
  ) => ({
    audit: audit.step(userId, {
      action: 'session.ended',
      via: 'session',
      credentialId: by,
      target,
      requestId,
      address,
    }),
  });

  return [
    endpoint(routes.signUp, async c => {
      browser.checkOrigin(c);
      const { cookie: wantsCookie, ...input } = c.req.valid('json');
      return c.json(browser.answer(c, await signUp(deps, input, originOf(c)), wantsCookie), 201);
    }),
    endpoint(routes.requestSignUp, async c => {
      browser.checkOrigin(c);
      await requestSignUp(deps, c.req.valid('json'), originOf(c));
      return c.body(null, 202);
    }),
    endpoint(routes.finishSignUp, async c => {
      browser.checkOrigin(c);
      const { cookie: wantsCookie, ...input } = c.req.valid('json');
      return c.json(browser.answer(c, await finishSignUp(deps, input, originOf(c)), wantsCookie), 201);
    }),
    endpoint(routes.logIn, async c => {
      browser.checkOrigin(c);
      const { cookie: wantsCookie, email, password, ...shown } = c.req.valid('json');
      const input = { email, password, ...(shown as FactorProof) };
      return c.json(browser.answer(c, await logIn(deps, input, originOf(c)), wantsCookie), 200);
    }),
    endpoint(routes.refresh, async c => {
      browser.checkOrigin(c);
      const given = c.req.valid('json').refresh_token;
      const token = given ?? browser.refreshCookie(c);
      if (token === undefined)
        throw accountsErrors.create('accounts.refresh_refused', 'The refresh token is missing.');
      // Returns the new token the way the old one was sent.
      return c.json(browser.answer(c, await sessions.refresh(token, originOf(c)), given === undefined), 200);
    }),
    endpoint(routes.logOut, async c => {
      const { userId, credentialId } = c.get('principal');
      const also = ended(userId, credentialId, credentialId, c.get('requestId'), c.get('address'));
      await sessions.revoke(userId, credentialId, also);
      browser.clearCookie(c);
      return c.body(null, 204);
    }),
    endpoint(routes.listSessions, async c => {
      const { userId, credentialId } = c.get('principal');
      const found = (await sessions.listFor(userId, credentialId)).filter(({ app }) => app === undefined);
      return c.json({ data: found.map(session => show(session, credentialId)), next_cursor: null }, 200);
    }),
    endpoint(routes.endSession, async c => {
      const { userId, credentialId } = c.get('principal');
      const { sessionId } = c.req.valid('param');
      const also = ended(userId, credentialId, sessionId, c.get('requestId'), c.get('address'));
      const seen = await sessions.listFor(userId, credentialId);
      const isSeen = seen.some(session => session.sessionId === sessionId);
      if (!isSeen || !(await sessions.revoke(userId, sessionId, also)))
        throw accountsErrors.create('accounts.session_not_found', 'Session not found.');
      return c.body(null, 204);
    }),
    endpoint(routes.endSessions, async c => {
      const { userId, credentialId } = c.get('principal');
      const also = ended(userId, credentialId, 'all', c.get('requestId'), c.get('address'));
      await sessions.revokeAllFor(userId, credentialId, also);
      browser.clearCookie(c);
      return c.body(null, 204);
    }),
  ] as const;
}
