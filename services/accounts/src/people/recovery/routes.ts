import { empty, endpoint, json, route } from '@stak/http';
import { z } from 'zod';
import type { ApiKeys } from '../../access/api-keys.ts';
import type { Memberships } from '../../access/memberships.ts';
import { originOf } from '../../origin.ts';
import { emailSchema, passwordSchema, triedPasswordSchema } from '../../schema.ts';
import { mailedTokenSchema } from '../credentials/mailed-tokens.ts';
import type { SignInDeps } from '../credentials/owner.ts';
import type { Browser } from '../sessions/browser.ts';
import { confirmEmailChange, requestEmailChange, sendVerification, verifyEmail } from './email.ts';
import { finishReset, requestReset } from './password-reset.ts';

export type RecoveryDeps = SignInDeps & {
  apiKeys: ApiKeys;
  memberships: Memberships;
  // Ends what other services gave out: all of a person's own account, and of another one what they asked for.
  endAccess?(accountId: string, userId: string): Promise<void>;
};

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const accepted = empty('Accepted. A mail is sent if the address has an account');

const routes = {
  requestReset: route({
    ...common,
    method: 'post',
    path: '/v1/auth/password-reset',
    operationId: 'accounts.requestPasswordReset',
    reaches: 'mail',
    audit: 'own',
    stores: 'access',
    auth: 'public',
    summary: 'Request a password reset',
    description:
      'Sends a mail with a link that works once, for an hour. The response is the same whether or not the address has an account.',
    request: { body: json(z.strictObject({ email: emailSchema })) },
    responses: { 202: accepted },
    problems: ['accounts.no_mail', 'accounts.origin_refused', 'accounts.too_many_attempts'],
  }),
  finishReset: route({
    ...common,
    method: 'post',
    path: '/v1/auth/password-reset/finish',
    operationId: 'accounts.finishPasswordReset',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'public',
    summary: 'Reset the password',
    description:
      'Sets a new password with the token from the mail, and ends all sessions. If the address was never verified, it is unknown who created the account: it is deleted with everything in it, and the address gets a new, empty one.',
    request: {
      body: json(
        z.strictObject({
          token: mailedTokenSchema,
          newPassword: passwordSchema,
          endAccess: z
            .boolean()
            .optional()
            .describe(
              'Also ends API keys of your account and those that you created in organisations, your calendar feed, and all tokens and portal sessions of the users of your tenants. False by default, because programs depend on them',
            ),
        }),
      ),
    },
    responses: { 204: empty() },
    problems: [
      'accounts.token_refused',
      'accounts.password_weak',
      'accounts.origin_refused',
      'accounts.too_many_attempts',
      'accounts.changed',
      'accounts.busy',
      'accounts.disabled',
    ],
  }),
  sendVerification: route({
    ...common,
    method: 'post',
    path: '/v1/me/verification',
    operationId: 'accounts.sendVerification',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    auth: 'person',
    summary: 'Resend the verification mail',
    description: 'Sends a mail with a link that verifies the address of the account.',
    responses: { 202: empty('The mail is on its way') },
    problems: ['accounts.no_mail', 'accounts.already_verified', 'accounts.too_many_attempts'],
  }),
  verifyEmail: route({
    ...common,
    method: 'post',
    path: '/v1/me/verification/finish',
    operationId: 'accounts.verifyEmail',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'person',
    summary: 'Verify your address with the token from the mail',
    description: 'Verifies the address that the mail with this token was sent to.',
    request: { body: json(z.strictObject({ token: mailedTokenSchema })) },
    responses: { 204: empty() },
    problems: ['accounts.token_refused', 'accounts.changed', 'accounts.too_many_attempts'],
  }),
  changeEmail: route({
    ...common,
    method: 'post',
    path: '/v1/me/email',
    operationId: 'accounts.changeEmail',
    reaches: 'mail',
    audit: 'own',
    stores: 'access',
    auth: 'person',
    summary: 'Change your e-mail address',
    description:
      'Sends a mail to both addresses. Both have to confirm; the old one only if it was verified. The response is the same if the new address has an account: only the owner of that account is told.',
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
    ...common,
    method: 'post',
    path: '/v1/me/email/confirm',
    operationId: 'accounts.confirmEmail',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'person',
    summary: 'Confirm a change of address with the token from the mail',
    description: 'Moves the account to the new address that the mail with this token was sent to.',
    request: { body: json(z.strictObject({ token: mailedTokenSchema })) },
    responses: {
      200: json(
        z.strictObject({
          status: z.enum(['changed', 'waiting']).describe('`waiting` until the other address confirms'),
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
