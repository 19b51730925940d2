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
    to: z.string().describe('Empty for what a worker sends to the members of an account'),
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

export const mailedNotice = entity(ferryhookKeys, {
  name: 'mailed notice',
  description: 'Something the members of an account were mailed about, so that they are not mailed twice.',
  schema: z.object({
    accountId: z.string(),
    noticeKey: z.string(),
    mailId: z.string().describe('Made for this attempt: after a lost answer it tells whose notice is stored'),
    expiresAt: z.int().describe('The second after which it is forgotten'),
  }),
  key: { partition: 'USER#{accountId}', sort: 'NOTICE#{noticeKey:text}' },
});

export const failureDigest = entity(ferryhookKeys, {
  name: 'digest of failing deliveries',
  description: 'What the next mail about failing deliveries says, and when the last one was written.',
  schema: z.object({
    accountId: z.string(),
    lines: z.array(z.string()),
    more: z.int().describe('How many there are besides the lines'),
    dueAtMs: z.int().optional().describe('When a worker turns it into mails; absent if none is asked to'),
    mailedAtMs: z.int().optional(),
    expiresAt: z.int().describe('The second after which it is forgotten'),
    version: z.int(),
  }),
  key: { partition: 'USER#{accountId}', sort: 'DIGEST' },
  version: 'version',
});

export const noticesOf = defineQuery('mailed notices of an account', { of: mailedNotice, consistent: true });
