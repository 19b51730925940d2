import { entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { appScopeSchema } from '../../app-scopes.ts';
import { ferryhookKeys } from '../../main-table.ts';

const expiresAt = z.int().describe('The second at which it expires');

export const oauthClient = entity(ferryhookKeys, {
  name: 'OAuth client',
  description: 'An app that has registered itself. It has no secret, and expires if nobody approves it.',
  schema: z.object({
    clientId: z.string(),
    clientName: z.string().describe('As the app calls itself: nobody has checked it'),
    redirectUris: z.array(z.string()),
    createdAt: z.string().describe('ISO timestamp'),
    expiresAt,
  }),
  key: { partition: 'CLIENT#{clientId}', sort: 'CLIENT' },
});
export type OAuthClient = ItemOf<typeof oauthClient>;

export const authorizationCode = entity(ferryhookKeys, {
  name: 'authorization code',
  description: 'What an approved app exchanges for tokens, once. It stays a day, to recognise a second use.',
  schema: z.object({
    codeHash: z.string().describe('SHA-256, hexadecimal'),
    clientId: z.string(),
    clientName: z.string(),
    redirectUri: z.string(),
    codeChallenge: z.string().describe('SHA-256 of the verifier, base64url (RFC 7636)'),
    scope: appScopeSchema,
    userId: z.string().describe('The person who approved it'),
    accountId: z.string().describe('The organisation that it was approved for'),
    sessionId: z.string().describe('Of the session that it becomes'),
    approvedIn: z.string().optional().describe('The session in which it was approved: it ends with that'),
    endsAtMs: z.int(),
    usedAtMs: z.int().optional(),
    expiresAt,
  }),
  key: { partition: 'CODE#{codeHash}', sort: 'CODE' },
});
export type AuthorizationCode = ItemOf<typeof authorizationCode>;
