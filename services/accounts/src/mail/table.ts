import { defineQuery, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys } from '../table.ts';
import { mailKinds } from './texts.ts';

export const outgoingMail = entity(ferryhookKeys, {
  name: 'outgoing mail',
  description: 'A mail that is owed, written with the deed that causes it. It goes when it is sent.',
  schema: z.object({
    mailId: z.string(),
    userId: z
      .string()
      .describe('The id of the mail itself while nobody has looked whether the address has an account'),
    kind: z.enum(mailKinds),
    to: z.string(),
    details: z.record(z.string(), z.string()).describe('What its text says, besides the link'),
    sealedToken: z.string().optional().describe('What its link holds; the table has only its hash otherwise'),
    nextAtMs: z.int().optional().describe('When a worker looks at it next; absent when it was given up'),
    fence: z.int().describe('Counted up by every claim'),
    owner: z.string().optional().describe('Which worker has claimed it'),
    attempts: z.int(),
    failure: z.string().optional(),
    createdAt: z.string().describe('ISO timestamp'),
    expiresAt: z.int().describe('The second after which nobody wants it'),
  }),
  key: { partition: 'USER#{userId}', sort: 'MAIL#{mailId}' },
  indexes: { GSI2: { partition: 'MAILDUE', sort: '{nextAtMs:15}#{mailId}' } },
});
export type OutgoingMail = ItemOf<typeof outgoingMail>;

export const mailsDue = defineQuery('mails due', { of: outgoingMail, index: 'GSI2' });
export const mailsOfUser = defineQuery('mails of a user', { of: outgoingMail, consistent: true });
