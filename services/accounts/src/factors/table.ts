import { defineQuery, entity, type ItemOf, type Store, type WriteStep, write } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys, type Profile } from '../table.ts';

export const authenticator = entity(ferryhookKeys, {
  name: 'authenticator',
  description:
    'The secret that an authenticator app shares with us, and the recovery codes that replace a lost factor.',
  schema: z.object({
    userId: z.string(),
    sealedSecret: z.string().optional().describe('Absent if the account has passkeys only'),
    lastStep: z.int().describe('Of the last code that was used: none works twice'),
    codeHashes: z.array(z.string()).describe('SHA-256 of the recovery codes that are left'),
    uses: z.int().describe('Counted up by every code that is used, so that two cannot use one'),
    confirmedAt: z.string().optional().describe('ISO timestamp; absent until the app has shown a code'),
    createdAt: z.string().describe('ISO timestamp'),
  }),
  key: { partition: 'USER#{userId}', sort: 'AUTHENTICATOR' },
});
export type Authenticator = ItemOf<typeof authenticator>;

export const passkey = entity(ferryhookKeys, {
  name: 'passkey',
  description: 'A WebAuthn key pair of which we have the public half. Profiles count them.',
  schema: z.object({
    userId: z.string(),
    passkeyId: z.string().describe('Made from the id that the authenticator gave it'),
    rawId: z.string().describe('What the authenticator calls it, in Base64url'),
    publicKey: z.string().describe('COSE, in Base64url'),
    counter: z.int().describe('Of its last use: one that goes back was copied'),
    transports: z.array(z.string()),
    isSynced: z.boolean().describe('Whether its owner has it on several devices'),
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
  description: 'What a passkey has to sign, for one purpose. Taken by the first answer.',
  schema: z.object({
    challengeHash: z.string(),
    purpose: z.enum(challengePurposes),
    userId: z.string().optional().describe('Who is signed in, if anybody has to be'),
    sessionId: z.string().optional().describe('The session that asked for it'),
    expiresAt: z.int().describe('The second after which it is refused'),
  }),
  key: { partition: 'CHALLENGE#{challengeHash}', sort: 'PASSKEY' },
});

export const passkeysOfUser = defineQuery('passkeys of a user', { of: passkey, consistent: true });

// Whether a password alone does not open the account.
export const hasFactor = ({ secondFactor, passkeys = 0 }: Profile): boolean =>
  secondFactor !== undefined || passkeys > 0;

// Everything that an account without a second factor does not have.
export async function factorErasure(store: Store, userId: string): Promise<Record<string, WriteStep>> {
  const { items } = await store.query(passkeysOfUser, { userId });
  return Object.fromEntries([
    ['the app', write.delete(authenticator, { userId })],
    ...items.map(({ passkeyId }) => [`the ${passkeyId}`, write.delete(passkey, { userId, passkeyId })]),
  ]);
}
