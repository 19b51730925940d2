import { empty, endpoint, json, nameSchemas, readsOnly, route } from '@stak/http';
import { z } from 'zod';
import * as limits from '../../limits.ts';
import { originOf } from '../../origin.ts';
import { cookieSchema, nameSchema, tokensSchema, triedPasswordSchema } from '../../schema.ts';
import type { NewPasskeyAnswer, PasskeyAnswer } from '../credentials/passkey-check.ts';
import { answerParts, bytes, passkeyAnswerSchema } from '../credentials/passkey-schema.ts';
import type { Passkey } from '../credentials/tables.ts';
import type { Browser } from '../sessions/browser.ts';
import { signInWithPasskey } from '../sign-in/sign-in.ts';
import {
  addPasskey,
  beginPasskey,
  beginPasskeyStepUp,
  type PasskeysDeps,
  removePasskey,
  renamePasskey,
} from './passkeys.ts';

const tags = ['accounts'];
const common = { tenant: 'none', mcp: false, tags } as const;
const session = { tags, auth: 'person', tenant: 'none', mcp: false } as const;
const newPasskeySchema = z
  .strictObject({
    ...answerParts,
    response: z.strictObject({
      clientDataJSON: bytes,
      attestationObject: bytes,
      authenticatorData: bytes.optional(),
      transports: z.array(z.string().max(30)).max(10).optional(),
      publicKeyAlgorithm: z.int().optional(),
      publicKey: bytes.optional(),
    }),
  })
  .describe('The result of `navigator.credentials.create`, as JSON');
const optionsSchema = z.strictObject({
  options: z.looseObject({}).describe('WebAuthn options for the browser, as JSON'),
});
const options = json(optionsSchema);
const passkeySchema = z.strictObject({
  passkeyId: z.string(),
  name: z.string(),
  isSynced: z.boolean().describe('Whether it is synced across devices, as password managers do'),
  lastUsedAt: z.string().optional(),
  createdAt: z.string(),
});
const password = triedPasswordSchema
  .optional()
  .describe('Not needed if the account has no password and you have just signed in');
const owner = [
  'accounts.password_wrong',
  'accounts.sign_in_again',
  'accounts.too_many_attempts',
  'accounts.busy',
];
const params = z.strictObject({ passkeyId: z.string().regex(/^pky_[a-f0-9]{32}$/) });

nameSchemas({ Passkey: passkeySchema, PasskeyAnswer: passkeyAnswerSchema, PasskeyOptions: optionsSchema });

const routes = {
  beginSignIn: route({
    ...common,
    method: 'post',
    path: '/v1/auth/passkey',
    operationId: 'accounts.beginPasskeySignIn',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    auth: 'public',
    limits: {
      rate: { name: 'passkey', limit: limits.challengesPerMinute, windowMs: 60_000, by: 'address' },
    },
    summary: 'Get a challenge for signing in with a passkey',
    description:
      'Pass the `options` to `navigator.credentials.get`. The challenge works once, for five minutes: to sign in with the passkey alone, or as a second factor with a password.',
    responses: { 200: options },
    problems: ['accounts.passkeys_unavailable', 'accounts.origin_refused'],
  }),
  finishSignIn: route({
    ...common,
    method: 'post',
    path: '/v1/auth/passkey/finish',
    operationId: 'accounts.signInWithPasskey',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    auth: 'public',
    summary: 'Sign in with a passkey',
    description: 'No password or e-mail address is needed. The passkey counts as a fresh second factor.',
    request: { body: json(z.strictObject({ passkey: passkeyAnswerSchema, cookie: cookieSchema })) },
    responses: { 200: json(tokensSchema) },
    problems: [
      'accounts.passkey_refused',
      'accounts.passkeys_unavailable',
      'accounts.disabled',
      'accounts.origin_refused',
      'accounts.too_many_attempts',
    ],
  }),
  beginStepUp: route({
    ...session,
    method: 'post',
    path: '/v1/auth/step-up/passkey',
    operationId: 'accounts.beginPasskeyStepUp',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    summary: 'Get a challenge for confirming a passkey again',
    description:
      'Pass the `options` to `navigator.credentials.get`, and send the result to `POST /v1/auth/step-up`.',
    responses: { 200: options },
    problems: ['accounts.factor_missing', 'accounts.passkeys_unavailable'],
  }),
  begin: route({
    ...session,
    method: 'post',
    path: '/v1/me/passkeys/registration',
    operationId: 'accounts.beginPasskey',
    reaches: 'nothing',
    audit: false,
    stores: 'access',
    summary: 'Start adding a passkey',
    description:
      'Pass the `options` to `navigator.credentials.create`, and send the result within five minutes. Nothing changes until then.',
    request: { body: json(z.strictObject({ password })) },
    responses: { 201: options },
    problems: [
      ...owner,
      'accounts.step_up_needed',
      'accounts.too_many_passkeys',
      'accounts.passkeys_unavailable',
    ],
  }),
  add: route({
    ...session,
    method: 'post',
    path: '/v1/me/passkeys',
    operationId: 'accounts.addPasskey',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    summary: 'Add a passkey',
    description:
      "From now on the passkey alone signs you in, and a password also requires it or another second factor. If this is the account's first factor, the response contains the recovery codes. They are not shown again.",
    request: { body: json(z.strictObject({ name: nameSchema, passkey: newPasskeySchema })) },
    responses: {
      201: json(
        z.strictObject({
          passkey: passkeySchema,
          recoveryCodes: z
            .array(z.string())
            .optional()
            .describe('Each works once, in place of a lost passkey'),
        }),
      ),
    },
    problems: [
      'accounts.passkey_refused',
      'accounts.passkey_exists',
      'accounts.too_many_passkeys',
      'accounts.passkeys_unavailable',
      'accounts.changed',
    ],
  }),
  list: route({
    ...session,
    ...readsOnly,
    path: '/v1/me/passkeys',
    operationId: 'accounts.listPasskeys',
    summary: 'List your passkeys',
    description: 'Returns the passkeys of the person, with when each was last used.',
    responses: { 200: json(z.strictObject({ data: z.array(passkeySchema), next_cursor: z.null() })) },
  }),
  rename: route({
    ...session,
    method: 'patch',
    path: '/v1/me/passkeys/{passkeyId}',
    operationId: 'accounts.renamePasskey',
    reaches: 'nothing',
    audit: 'own',
    stores: 'edit',
    summary: 'Rename a passkey',
    description: 'Changes the name by which the person tells the passkey from others.',
    request: { params, body: json(z.strictObject({ name: nameSchema })) },
    responses: { 200: json(passkeySchema) },
    problems: ['accounts.passkey_not_found'],
  }),
  remove: route({
    ...session,
    method: 'post',
    path: '/v1/me/passkeys/{passkeyId}/removal',
    operationId: 'accounts.removePasskey',
    reaches: 'nothing',
    audit: 'own',
    stores: 'access',
    summary: 'Remove a passkey',
    description:
      'Removes a passkey. Needs the password, and a second factor that was shown within ten minutes. The last way to sign in cannot be removed.',
    request: { params, body: json(z.strictObject({ password })) },
    responses: { 204: empty() },
    problems: [
      ...owner,
      'accounts.passkey_not_found',
      'accounts.last_sign_in',
      'accounts.step_up_needed',
      'accounts.changed',
    ],
  }),
};

const show = ({ passkeyId, name, isSynced, lastUsedAt, createdAt }: Passkey) => ({
  passkeyId,
  name,
  isSynced,
  lastUsedAt,
  createdAt,
});

export function createPasskeyRoutes(deps: PasskeysDeps & { browser: Browser }) {
  const { browser, passkeys } = deps;
  return [
    endpoint(routes.beginSignIn, async c => {
      browser.checkOrigin(c);
      return c.json({ options: { ...(await passkeys.requestOptions({ purpose: 'sign-in' })) } }, 200);
    }),
    endpoint(routes.finishSignIn, async c => {
      browser.checkOrigin(c);
      const { cookie, passkey } = c.req.valid('json');
      const signedIn = await signInWithPasskey(deps, passkey as PasskeyAnswer, originOf(c));
      return c.json(browser.answer(c, signedIn, cookie), 200);
    }),
    endpoint(routes.beginStepUp, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      return c.json({ options: { ...(await beginPasskeyStepUp(deps, { userId, sessionId })) } }, 200);
    }),
    endpoint(routes.begin, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      const signed = { userId, sessionId, ...originOf(c) };
      const made = await beginPasskey(deps, signed, c.req.valid('json').password);
      return c.json({ options: { ...made } }, 201);
    }),
    endpoint(routes.add, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      const { name, passkey } = c.req.valid('json');
      const { added, recoveryCodes } = await addPasskey(
        deps,
        { userId, sessionId, ...originOf(c) },
        { name, answer: passkey as NewPasskeyAnswer },
      );
      return c.json({ passkey: show(added), recoveryCodes }, 201);
    }),
    endpoint(routes.list, async c => {
      const list = await passkeys.list(c.get('principal').userId);
      return c.json({ data: list.map(show), next_cursor: null }, 200);
    }),
    endpoint(routes.rename, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      const { passkeyId } = c.req.valid('param');
      const signed = { userId, sessionId, ...originOf(c) };
      return c.json(show(await renamePasskey(deps, signed, passkeyId, c.req.valid('json').name)), 200);
    }),
    endpoint(routes.remove, async c => {
      const { userId, credentialId: sessionId } = c.get('principal');
      const { passkeyId } = c.req.valid('param');
      await removePasskey(
        deps,
        { userId, sessionId, ...originOf(c) },
        passkeyId,
        c.req.valid('json').password,
      );
      return c.body(null, 204);
    }),
  ] as const;
}
