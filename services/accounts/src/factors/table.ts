import { entity, type ItemOf, type WriteStep, write } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys } from '../table.ts';

export const authenticator = entity(ferryhookKeys, {
  name: 'authenticator',
  description:
    'The secret that an authenticator app shares with us, and what stands in for the app when it is lost.',
  schema: z.object({
    userId: z.string(),
    sealedSecret: z.string(),
    lastStep: z.int().describe('Of the last code that was used: none works twice'),
    codeHashes: z.array(z.string()).describe('SHA-256 of the recovery codes that are left'),
    uses: z.int().describe('Counted up by every code that is used, so that two cannot use one'),
    confirmedAt: z.string().optional().describe('ISO timestamp; absent until the app has shown a code'),
    createdAt: z.string().describe('ISO timestamp'),
  }),
  key: { partition: 'USER#{userId}', sort: 'AUTHENTICATOR' },
});
export type Authenticator = ItemOf<typeof authenticator>;

// What goes with an account.
export const factorErasure = (userId: string): WriteStep[] => [write.delete(authenticator, { userId })];
