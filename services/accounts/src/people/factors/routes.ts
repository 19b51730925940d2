import { empty, endpoint, json, nameSchemas, route } from '@stak/http';
import { z } from 'zod';
import { originOf } from '../../origin.ts';
import { codeSchema, triedPasswordSchema } from '../../schema.ts';
import { passkeyAnswerSchema } from '../credentials/passkey-schema.ts';
import type { FactorProof } from '../credentials/second-factor.ts';
import {
  beginAuthenticator,
  confirmAuthenticator,
  type FactorDeps,
  removeAuthenticator,
  renewRecoveryCodes,
  stepUp,
} from './factors.ts';

const tags = ['accounts'];
const password = triedPasswordSchema
  .optional()
  .describe('Not needed if the account has no password and you have just signed in');
const proof = z.strictObject({ password });
const codes = z.strictObject({
  recoveryCodes: z.array(z.string()).describe('Each works once, in place of a code from the app'),
});
nameSchemas({ PasswordProof: proof, RecoveryCodes: codes });
const recoveryCodes = json(codes);
const owner = [
  'accounts.password_wrong',
  'accounts.sign_in_again',
  'accounts.too_many_attempts',
  'accounts.busy',
];
const session = { tags, auth: 'person', tenant: 'none', mcp: false } as const;

const routes = {
  begin: route({
    ...session,
    method: 'post',
    path: '/v1/me/authenticator',
    operationId: 'accounts.beginAuthenticator',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    summary: 'Start adding an authenticator app',
    description:
      'Show the `uri` as a QR code, or the `secret` as text. Nothing changes until you confirm with a code from the app.',
    request: { body: json(proof) },
    responses: {
      201: json(
        z.strictObject({
          secret: z.string().describe('For apps without a QR scanner, in Base32'),
          uri: z.string().describe('The content of the QR code'),
        }),
      ),
    },
    problems: [...owner, 'accounts.factor_exists', 'accounts.step_up_needed', 'accounts.changed'],
  }),
  confirm: route({
    ...session,
    method: 'post',
    path: '/v1/me/authenticator/confirm',
    operationId: 'accounts.confirmAuthenticator',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    summary: 'Confirm the authenticator app with a code',
    description:
      'From now on, signing in with a password requires a code. The recovery codes are not shown again.',
    request: { body: json(z.strictObject({ code: codeSchema })) },
    responses: { 200: recoveryCodes },
    problems: [
      'accounts.code_wrong',
      'accounts.factor_exists',
      'accounts.changed',
      'accounts.too_many_attempts',
    ],
  }),
  remove: route({
    ...session,
    method: 'post',
    path: '/v1/me/authenticator/removal',
    operationId: 'accounts.removeAuthenticator',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    summary: 'Remove the authenticator app',
    description:
      'Removes the authenticator app. Needs the password, and a code that was shown within ten minutes.',
    request: { body: json(proof) },
    responses: { 204: empty() },
    problems: [...owner, 'accounts.factor_missing', 'accounts.step_up_needed', 'accounts.changed'],
  }),
  renew: route({
    ...session,
    method: 'post',
    path: '/v1/me/recovery-codes',
    operationId: 'accounts.renewRecoveryCodes',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    summary: 'Replace the recovery codes',
    description:
      'Makes ten new recovery codes. The old ones stop working, and the new ones are in this answer only.',
    responses: { 200: recoveryCodes },
    problems: ['accounts.factor_missing', 'accounts.step_up_needed', 'accounts.changed'],
  }),
  stepUp: route({
    ...session,
    method: 'post',
    path: '/v1/auth/step-up',
    operationId: 'accounts.stepUp',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    summary: 'Confirm your second factor again',
    description:
      'Deleting the account, changing the password, creating keys with the scope `admin`, making someone an admin or owner, changing factors and linking a provider require a second factor that was confirmed within the last ten minutes.',
    request: {
      body: json(z.strictObject({ code: codeSchema.optional(), passkey: passkeyAnswerSchema.optional() })),
    },
    responses: { 204: empty() },
    problems: [
      'accounts.code_required',
      'accounts.code_wrong',
      'accounts.passkey_refused',
      'accounts.factor_missing',
      'accounts.too_many_attempts',
    ],
  }),
};

export function createFactorRoutes(deps: FactorDeps) {
  return [
    endpoint(routes.begin, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      const signed = { userId, sessionId, ...originOf(c) };
      return c.json(await beginAuthenticator(deps, signed, c.req.valid('json').password), 201);
    }),
    endpoint(routes.confirm, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      const signed = { userId, sessionId, ...originOf(c) };
      return c.json(
        { recoveryCodes: await confirmAuthenticator(deps, signed, c.req.valid('json').code) },
        200,
      );
    }),
    endpoint(routes.remove, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      await removeAuthenticator(deps, { userId, sessionId, ...originOf(c) }, c.req.valid('json').password);
      return c.body(null, 204);
    }),
    endpoint(routes.renew, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      const signed = { userId, sessionId, ...originOf(c) };
      return c.json({ recoveryCodes: await renewRecoveryCodes(deps, signed) }, 200);
    }),
    endpoint(routes.stepUp, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      await stepUp(deps, { userId, sessionId, ...originOf(c) }, c.req.valid('json') as FactorProof);
      return c.body(null, 204);
    }),
  ] as const;
}
