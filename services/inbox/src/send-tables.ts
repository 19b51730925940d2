import { entity } from '@stak/table';
import { z } from 'zod';
import { exampleId, exampleInbox, inboxId, inboxKeys, int, messageContent, taxonomy } from './inbox-keys.ts';

// Sends, their recipients and their ids of the host; and the members of an inbox.

// The partition of the inbox that it is in follows from its own id, the id of the host, or the key of the request.
// Bodies and long lists of recipients are few, and stay in the first.
const sentIn = { ...inboxId, bucket: z.string() };
const exampleSent = { ...exampleInbox, bucket: 'main~3' };

export const send = entity(inboxKeys, {
  name: 'send',
  description:
    'What the host sent: to whom, its progress, and how many have read it. Copies do not list the recipients.',
  kind: 'SR',
  schema: z.object({
    ...sentIn,
    id: z.string(),
    host_system_id: z.string().nullable(),
    sender: z.string(),
    cause: z.string().optional().describe('what it was sent because of'),
    audiences: z.object({
      kind: z.enum(['users', 'everyone']),
      label: z.string().optional(),
      uids: z
        .array(z.string())
        .optional()
        .describe('of a short list; a long one is stored in audience parts'),
    }),
    status: z.enum(['scheduled', 'delivering', 'sent', 'redacting', 'redacted', 'cancelled']),
    title: z.string().nullable(),
    taxonomy,
    message: messageContent.optional().describe('until it is delivered'),
    body_bytes: int.optional().describe('size of a shared body'),
    received: int,
    expiredat: int,
    recipients: int,
    delivered: int,
    members: int.optional().describe('for a message to everyone: members of the inbox when it was sent'),
    removed: int.describe('recipients that a redaction has processed'),
    read: int,
    seq: int.optional().describe('for a message to everyone'),
    send_at: int.optional(),
    shard: int.optional(),
    dueat: int.optional().describe('when a worker should process it, in milliseconds'),
    fence: z.string().optional().describe('which worker leases it'),
  }),
  key: { partition: 't#{tenant_key}S#{bucket}', sort: 'm#{id}' },
  inKeyOnly: ['bucket'],
  indexes: { due: { partition: 'DUE#{shard}', sort: '{dueat:14}#{id}' } },
  examples: [
    {
      ...exampleSent,
      id: exampleId,
      host_system_id: null,
      sender: 'usr_1',
      audiences: { kind: 'users', uids: ['ann'] },
      status: 'scheduled',
      title: 'Your invoice',
      received: 1_764_000_000,
      expiredat: 4_000_000_000,
      recipients: 1,
      delivered: 0,
      removed: 0,
      read: 0,
      shard: 1,
      dueat: 1_764_000_000_000,
    },
  ],
});

export const audiencePart = entity(inboxKeys, {
  name: 'audience part',
  description: 'A thousand recipients of a send. They are listed nowhere else.',
  kind: 'AU',
  schema: z.object({ ...sentIn, id: z.string(), part: int, uids: z.array(z.string()), expiredat: int }),
  key: { partition: 't#{tenant_key}S#{bucket}', sort: 'a#{id}#{part:3}' },
  inKeyOnly: ['bucket'],
  examples: [{ ...exampleSent, id: exampleId, part: 0, uids: ['ann', 'bob'], expiredat: 4_000_000_000 }],
});

export const messageBody = entity(inboxKeys, {
  name: 'message body',
  description: 'The body of a message to several users, if it is too large to store in every copy.',
  kind: 'MB',
  schema: z.object({ ...sentIn, id: z.string(), body: z.unknown(), expiredat: int }),
  key: { partition: 't#{tenant_key}S#{bucket}', sort: 't#{id}' },
  inKeyOnly: ['bucket'],
  examples: [{ ...exampleSent, id: exampleId, body: 'x'.repeat(8192), expiredat: 4_000_000_000 }],
});

export const hostId = entity(inboxKeys, {
  name: 'host id',
  description: "The send with one of the host's ids, where these are unique.",
  kind: 'HI',
  schema: z.object({
    ...sentIn,
    host_system_id: z.string(),
    id: z.string(),
    fingerprint: z.string(),
    expiredat: int,
  }),
  key: { partition: 't#{tenant_key}S#{bucket}', sort: 'h#{host_system_id:text}' },
  inKeyOnly: ['bucket'],
  examples: [
    {
      ...exampleSent,
      host_system_id: 'INV-1',
      id: exampleId,
      fingerprint: 'x'.repeat(43),
      expiredat: 4_000_000_000,
    },
  ],
});

export const sharedHostId = entity(inboxKeys, {
  name: 'shared host id',
  description: "One of the sends with one of the host's ids, where these need not be unique.",
  kind: 'HS',
  schema: z.object({ ...sentIn, host_system_id: z.string(), id: z.string(), expiredat: int }),
  key: { partition: 't#{tenant_key}S#{bucket}', sort: 'n#{host_system_id:text}#{id}' },
  inKeyOnly: ['bucket'],
  examples: [{ ...exampleSent, host_system_id: 'INV-1', id: exampleId, expiredat: 4_000_000_000 }],
});

export const requestKey = entity(inboxKeys, {
  name: 'request key',
  description:
    'The send that a request of an earlier version was going to make. Now a request determines the id of its send.',
  kind: 'RK',
  schema: z.object({ ...sentIn, key: z.string(), id: z.string(), expiredat: int }),
  key: { partition: 't#{tenant_key}S#{bucket}', sort: 'k#{key:text}' },
  inKeyOnly: ['bucket'],
  examples: [{ ...exampleSent, key: 'x'.repeat(43), id: exampleId, expiredat: 4_000_000_000 }],
});

export const member = entity(inboxKeys, {
  name: 'member',
  description: 'A user who joined, marked a message or got one.',
  kind: 'RU',
  schema: z.object({ ...inboxId, uid: z.string(), joinedat: int }),
  key: { partition: 't#{tenant_key}R#{inbox_key}', sort: 'u#{uid}' },
  examples: [{ ...exampleInbox, uid: 'ann', joinedat: 1_764_000_000 }],
});

export const memberTotal = entity(inboxKeys, {
  name: 'member total',
  kind: 'US',
  schema: z.object({ ...inboxId, users: int }),
  key: { partition: 't#{tenant_key}R#{inbox_key}', sort: 'c#*' },
  examples: [{ ...exampleInbox, users: 1 }],
});
