import { defineQuery, entity, type ItemOf } from '@stak/table';
import { z } from 'zod';
import { ferryhookKeys } from '../main-table.ts';
import { mailKinds } from './texts.ts';

export const outgoingMail = entity(ferryhookKeys, {
  name: 'outgoing mail',
  description: 'A mail to send, written in the transaction that causes it and deleted when it is sent.',
  schema: z.object({
    mailId: z.string(),
    userId: z
      .string()
      .describe('The id of the mail itself until it is known whether the address has an account'),
    kind: z.enum(mailKinds),
    to: z.string().describe('Empty if a worker looks up the recipients'),
    details: z.record(z.string(), z.string()).describe('The values in its text, besides the link'),
    sealedToken: z
      .string()
      .optional()
      .describe('The token of its link; elsewhere the table stores only its hash'),
    nextAtMs: z.int().optional().describe('When a worker handles it next; absent if it was given up'),
    fence: z.int().describe('Incremented by every claim'),
    owner: z.string().optional().describe('The worker that has claimed it'),
    attempts: z.int(),
    failure: z.string().optional(),
    createdAt: z.string().describe('ISO timestamp'),
    expiresAt: z.int().describe('The second after which it is useless'),
  }),
  key: { partition: 'USER#{userId}', sort: 'MAIL#{mailId}' },
  indexes: { GSI2: { partition: 'MAILDUE', sort: '{nextAtMs:15}#{mailId}' } },
});
export type OutgoingMail = ItemOf<typeof outgoingMail>;

export const mailsDue = defineQuery('mails due', { of: outgoingMail, index: 'GSI2' });
export const mailsOfUser = defineQuery('mails of a user', { of: outgoingMail, consistent: true });

export const mailedNotice = entity(ferryhookKeys, {
  name: 'mailed notice',
  description: 'A notice that was mailed to the members of an account, so that it is not mailed twice.',
  schema: z.object({
    accountId: z.string(),
    noticeKey: z.string(),
    mailId: z
      .string()
      .describe('Made for this attempt: after a lost response, it shows whose notice was stored'),
    expiresAt: z.int().describe('The second at which it expires'),
  }),
  key: { partition: 'USER#{accountId}', sort: 'NOTICE#{noticeKey:text}' },
});

export const failureDigest = entity(ferryhookKeys, {
  name: 'digest of failing deliveries',
  description: 'The content of the next mail about failing deliveries, and the time of the last one.',
  schema: z.object({
    accountId: z.string(),
    lines: z.array(z.string()),
    more: z.int().describe('How many there are in addition to the lines'),
    dueAtMs: z.int().optional().describe('When a worker turns it into mails; absent if none is requested'),
    mailedAtMs: z.int().optional(),
    expiresAt: z.int().describe('The second at which it expires'),
    version: z.int(),
  }),
  key: { partition: 'USER#{accountId}', sort: 'DIGEST' },
  version: 'version',
});

export const noticesOf = defineQuery('mailed notices of an account', { of: mailedNotice, consistent: true });
