import { empty, endpoint, json, route } from '@stak/http';
import { z } from 'zod';
import type { ApiKeys } from '../keys/api-keys.ts';
import { emailSchema, mailedTokenSchema, passwordSchema, triedPasswordSchema } from '../schema.ts';
import { type Browser, originOf } from '../sign-in/browser.ts';
import type { SignInDeps } from '../sign-in/sign-in.ts';
import { confirmEmailChange, requestEmailChange, sendVerification, verifyEmail } from './email.ts';
import { finishReset, requestReset } from './password-reset.ts';

export type RecoveryDeps = SignInDeps & { apiKeys: ApiKeys };

const tags = ['accounts'];
const accepted = empty('A mail is on its way, if there is anybody to write to');

const routes = {
  requestReset: route({
    method: 'post',
    path: '/v1/auth/password-reset',
    operationId: 'accounts.requestPasswordReset',
    tags,
    auth: 'public',
    summary: 'Ask for a mail with which to reset a forgotten password',
    description:
      'The answer is the same for every address, whether or not it has an account. The link in the mail works once, for an hour.',
    request: { body: json(z.strictObject({ email: emailSchema })) },
    responses: { 202: accepted },
    problems: ['accounts.no_mail', 'accounts.origin_refused', 'accounts.too_many_attempts'],
  }),
  finishReset: route({
    method: 'post',
    path: '/v1/auth/password-reset/finish',
    operationId: 'accounts.finishPasswordReset',
    tags,
    auth: 'public',
    summary: 'Choose a new password with the token of a mail',
    description:
      'Ends all sessions. API keys stay, unless the address had never been verified: then nobody knows who made them.',
    request: { body: json(z.strictObject({ token: mailedTokenSchema, newPassword: passwordSchema })) },
    responses: { 204: empty() },
    problems: [
      'accounts.token_refused',
      'accounts.password_weak',
      'accounts.origin_refused',
      'accounts.too_many_attempts',
      'accounts.changed',
      'accounts.busy',
    ],
  }),
  sendVerification: route({
    method: 'post',
    path: '/v1/me/verification',
    operationId: 'accounts.sendVerification',
    tags,
    auth: 'person',
    summary: 'Send another mail to verify your address',
    responses: { 202: empty('It is on its way') },
    problems: ['accounts.no_mail', 'accounts.already_verified', 'accounts.too_many_attempts'],
  }),
  verifyEmail: route({
    method: 'post',
    path: '/v1/me/verification/finish',
    operationId: 'accounts.verifyEmail',
    tags,
    auth: 'person',
    summary: 'Verify your address with the token of a mail',
    request: { body: json(z.strictObject({ token: mailedTokenSchema })) },
    responses: { 204: empty() },
    problems: ['accounts.token_refused', 'accounts.changed', 'accounts.too_many_attempts'],
  }),
  changeEmail: route({
    method: 'post',
    path: '/v1/me/email',
    operationId: 'accounts.changeEmail',
    tags,
    auth: 'person',
    summary: 'Change your e-mail address',
    description:
      'Both addresses get a mail, and both have to confirm; the old one only if it was verified. The answer is the same if the new one has an account: then its owner learns of it, and nobody else.',
    request: {
      body: json(z.strictObject({ email: emailSchema, password: triedPasswordSchema.optional() })),
    },
    responses: { 202: empty('The mails are on their way') },
    problems: [
      'accounts.no_mail',
      'accounts.email_unchanged',
      'accounts.password_wrong',
      'accounts.sign_in_again',
      'accounts.too_many_attempts',
      'accounts.busy',
    ],
  }),
  confirmEmail: route({
    method: 'post',
    path: '/v1/me/email/confirm',
    operationId: 'accounts.confirmEmail',
    tags,
    auth: 'person',
    summary: 'Confirm a change of address with the token of a mail',
    request: { body: json(z.strictObject({ token: mailedTokenSchema })) },
    responses: {
      200: json(
        z.strictObject({
          status: z.enum(['changed', 'waiting']).describe('`waiting` for the other address to confirm'),
        }),
      ),
    },
    problems: [
      'accounts.token_refused',
      'accounts.email_taken',
      'accounts.changed',
      'accounts.too_many_attempts',
    ],
  }),
};

export function createRecoveryRoutes(deps: RecoveryDeps & { browser: Browser }) {
  const { browser } = deps;
  return [
    endpoint(routes.requestReset, async c => {
      browser.checkOrigin(c);
      await requestReset(deps, c.req.valid('json').email, originOf(c));
      return c.body(null, 202);
    }),
    endpoint(routes.finishReset, async c => {
      browser.checkOrigin(c);
      await finishReset(deps, c.req.valid('json'), originOf(c));
      return c.body(null, 204);
    }),
    endpoint(routes.sendVerification, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      await sendVerification(deps, { userId, sessionId, ...originOf(c) });
      return c.body(null, 202);
    }),
    endpoint(routes.verifyEmail, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      await verifyEmail(deps, { userId, sessionId, ...originOf(c) }, c.req.valid('json').token);
      return c.body(null, 204);
    }),
    endpoint(routes.changeEmail, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      await requestEmailChange(deps, { userId, sessionId, ...originOf(c) }, c.req.valid('json'));
      return c.body(null, 202);
    }),
    endpoint(routes.confirmEmail, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      const { token } = c.req.valid('json');
      const status = await confirmEmailChange(deps, { userId, sessionId, ...originOf(c) }, token);
      return c.json({ status }, 200);
    }),
  ] as const;
}
