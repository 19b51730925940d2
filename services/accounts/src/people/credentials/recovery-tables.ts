import { entity, type ItemOf, type WriteStep, write } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys } from '../../main-table.ts';

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
