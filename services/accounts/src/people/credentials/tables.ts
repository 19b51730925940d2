import { defineQuery, entity, type ItemOf, type Store, type WriteStep, write } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys, type Profile } from '../../main-table.ts';

export const authenticator = entity(ferryhookKeys, {
  name: 'authenticator',
  description:
    'The shared secret of an authenticator app, and the recovery codes that replace a lost factor.',
  schema: z.object({
    userId: z.string(),
    sealedSecret: z.string().optional().describe('Absent if the account has passkeys only'),
    lastStep: z.int().describe('The time step of the last code that was used: none works twice'),
    codeHashes: z.array(z.string()).describe('SHA-256 of the unused recovery codes'),
    uses: z.int().describe('Incremented by every used code, so that two callers cannot use the same one'),
    confirmedAt: z
      .string()
      .optional()
      .describe('ISO timestamp; absent until the app has produced a valid code'),
    createdAt: z.string().describe('ISO timestamp'),
  }),
  key: { partition: 'USER#{userId}', sort: 'AUTHENTICATOR' },
});
export type Authenticator = ItemOf<typeof authenticator>;

export const passkey = entity(ferryhookKeys, {
  name: 'passkey',
  description: 'The public key of a WebAuthn key pair. Profiles count them.',
  schema: z.object({
    userId: z.string(),
    passkeyId: z.string().describe('Derived from the authenticator’s id'),
    rawId: z.string().describe('The authenticator’s id, in Base64url'),
    publicKey: z.string().describe('COSE, in Base64url'),
    counter: z.int().describe('Of its last use: if it goes back, the passkey was copied'),
    transports: z.array(z.string()),
    isSynced: z.boolean().describe('Whether it is synchronised between devices'),
    name: z.string(),
    lastUsedAt: z.string().optional().describe('ISO timestamp'),
    createdAt: z.string().describe('ISO timestamp'),
  }),
  key: { partition: 'USER#{userId}', sort: 'PASSKEY#{passkeyId}' },
});
export type Passkey = ItemOf<typeof passkey>;

export const challengePurposes = ['register', 'sign-in', 'step-up'] as const;
export const passkeyChallenge = entity(ferryhookKeys, {
  name: 'passkey challenge',
  description: 'What a passkey must sign, for one purpose. Consumed by the first response.',
  schema: z.object({
    challengeHash: z.string(),
    purpose: z.enum(challengePurposes),
    userId: z.string().optional().describe('The signed-in user, if the purpose requires one'),
    sessionId: z.string().optional().describe('The session that requested it'),
    expiresAt: z.int().describe('The second after which it is refused'),
  }),
  key: { partition: 'CHALLENGE#{challengeHash}', sort: 'PASSKEY' },
});

export const passkeysOfUser = defineQuery('passkeys of a user', { of: passkey, consistent: true });

// Whether a password alone is not enough to sign in.
export const hasFactor = ({ secondFactor, passkeys = 0 }: Profile): boolean =>
  secondFactor !== undefined || passkeys > 0;

// Deletes all that belongs to a second factor.
export async function factorErasure(store: Store, userId: string): Promise<Record<string, WriteStep>> {
  const { items } = await store.query(passkeysOfUser, { userId });
  return Object.fromEntries([
    ['the app', write.delete(authenticator, { userId })],
    ...items.map(({ passkeyId }) => [`the ${passkeyId}`, write.delete(passkey, { userId, passkeyId })]),
  ]);
}

export const tokenPurposes = ['reset', 'verify', 'sign_up'] as const;
export type TokenPurpose = (typeof tokenPurposes)[number];

export const mailedToken = entity(ferryhookKeys, {
  name: 'mailed token',
  description: 'The token of a link in a mail, by its hash. One for each purpose: a newer mail replaces it.',
  schema: z.object({
    userId: z.string(),
    purpose: z.enum(tokenPurposes),
    tokenHash: z.string(),
    email: z.string().describe('Where it was sent: it is valid while that is the account’s address'),
    person: z
      .object({ name: z.string(), passwordHash: z.string() })
      .optional()
      .describe('Of a sign-up: the person to create'),
    isHandedOver: z
      .boolean()
      .optional()
      .describe('An operator handed it over: it does not prove that the person receives mail at the address'),
    createdAt: z.string().describe('ISO timestamp'),
    expiresAt: z.int().describe('The second at which it expires'),
  }),
  key: { partition: 'USER#{userId}', sort: 'TOKEN#{purpose}' },
});

export const emailChange = entity(ferryhookKeys, {
  name: 'change of address',
  description: 'Waits until both addresses have confirmed it. A hash is removed when its side has.',
  schema: z.object({
    userId: z.string(),
    oldEmail: z.string(),
    newEmail: z.string(),
    oldHash: z.string().optional(),
    newHash: z.string().optional(),
    createdAt: z.string().describe('ISO timestamp'),
    expiresAt: z.int().describe('The second at which it expires'),
  }),
  key: { partition: 'USER#{userId}', sort: 'EMAILCHANGE' },
});
export type EmailChange = ItemOf<typeof emailChange>;

// Steps that delete an account's tokens.
export const recoveryErasure = (userId: string): WriteStep[] => [
  ...tokenPurposes.map(purpose => write.delete(mailedToken, { userId, purpose })),
  write.delete(emailChange, { userId }),
];
