import { defineQuery, entity } from '@stak/table';
import { z } from 'zod';
import { inboxTable, messageContent, taxonomy } from './table.ts';

// The host's side of the table: what was sent, to whom, under which of the host's names, and who is there.

const int = z.number().int();
const place = { tenant_key: z.string(), inbox_key: z.string() };
const acme = { tenant_key: 'acme', inbox_key: 'main' };
const exampleId = '0mjuxvy9s00aaaaaaaaaaaaa';

export const send = entity(inboxTable, {
  name: 'send',
  description: 'What the host sent: to whom, how far it got, who has read it. Its copies know no recipients.',
  kind: 'SR',
  schema: z.object({
    ...place,
    id: z.string(),
    host_system_id: z.string().nullable(),
    sender: z.string(),
    audiences: z.object({
      kind: z.enum(['users', 'everyone']),
      label: z.string().optional(),
      uids: z.array(z.string()).optional().describe('of a short list; a long one is in audience parts'),
    }),
    status: z.enum(['scheduled', 'delivering', 'sent', 'redacting', 'redacted', 'cancelled']),
    title: z.string().nullable(),
    taxonomy,
    message: messageContent.optional().describe('until it is delivered'),
    body_bytes: int.optional().describe('of a body that all recipients share'),
    received: int,
    expiredat: int,
    recipients: int,
    delivered: int,
    members: int.optional().describe('of a message to everyone: how many the inbox had when it was sent'),
    removed: int.describe('recipients whose copy a redaction has looked for'),
    read: int,
    seq: int.optional().describe('of a message to everyone'),
    send_at: int.optional(),
    shard: int.optional(),
    dueat: int.optional().describe('when a worker should look at it, in milliseconds'),
    fence: z.string().optional().describe('which worker has it'),
  }),
  key: { partition: 't#{tenant_key}S#{inbox_key}', sort: 'm#{id}' },
  indexes: { due: { partition: 'DUE#{shard}', sort: '{dueat:14}#{id}' } },
  examples: [
    {
      ...acme,
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

export const audiencePart = entity(inboxTable, {
  name: 'audience part',
  description: 'A thousand recipients of a send. They are written down here and nowhere else.',
  kind: 'AU',
  schema: z.object({ ...place, id: z.string(), part: int, uids: z.array(z.string()), expiredat: int }),
  key: { partition: 't#{tenant_key}S#{inbox_key}', sort: 'a#{id}#{part:3}' },
  examples: [{ ...acme, id: exampleId, part: 0, uids: ['ann', 'bob'], expiredat: 4_000_000_000 }],
});

export const messageBody = entity(inboxTable, {
  name: 'message body',
  description: 'The body of a message to several users, where it is too large for every copy to have it.',
  kind: 'MB',
  schema: z.object({ ...place, id: z.string(), body: z.unknown(), expiredat: int }),
  key: { partition: 't#{tenant_key}S#{inbox_key}', sort: 't#{id}' },
  examples: [{ ...acme, id: exampleId, body: 'x'.repeat(8192), expiredat: 4_000_000_000 }],
});

export const hostId = entity(inboxTable, {
  name: 'host id',
  description: "The send that has one of the host's ids, where they are unique.",
  kind: 'HI',
  schema: z.object({
    ...place,
    host_system_id: z.string(),
    id: z.string(),
    fingerprint: z.string(),
    expiredat: int,
  }),
  key: { partition: 't#{tenant_key}S#{inbox_key}', sort: 'h#{host_system_id:text}' },
  examples: [
    {
      ...acme,
      host_system_id: 'INV-1',
      id: exampleId,
      fingerprint: 'x'.repeat(43),
      expiredat: 4_000_000_000,
    },
  ],
});

export const sharedHostId = entity(inboxTable, {
  name: 'shared host id',
  description: "One of the sends that have one of the host's ids, where they need not be unique.",
  kind: 'HS',
  schema: z.object({ ...place, host_system_id: z.string(), id: z.string(), expiredat: int }),
  key: { partition: 't#{tenant_key}S#{inbox_key}', sort: 'n#{host_system_id:text}#{id}' },
  examples: [{ ...acme, host_system_id: 'INV-1', id: exampleId, expiredat: 4_000_000_000 }],
});

export const requestKey = entity(inboxTable, {
  name: 'request key',
  description: 'The send that an idempotent request has made: it is made once, also after a crash.',
  kind: 'RK',
  schema: z.object({ ...place, key: z.string(), id: z.string(), expiredat: int }),
  key: { partition: 't#{tenant_key}S#{inbox_key}', sort: 'k#{key:text}' },
  examples: [{ ...acme, key: 'x'.repeat(43), id: exampleId, expiredat: 4_000_000_000 }],
});

export const member = entity(inboxTable, {
  name: 'member',
  description: 'A user whom the inbox knows: one who came, or to whom something was sent.',
  kind: 'RU',
  schema: z.object({ ...place, uid: z.string(), joinedat: int }),
  key: { partition: 't#{tenant_key}R#{inbox_key}', sort: 'u#{uid}' },
  examples: [{ ...acme, uid: 'ann', joinedat: 1_764_000_000 }],
});

export const memberTotal = entity(inboxTable, {
  name: 'member total',
  kind: 'US',
  schema: z.object({ ...place, users: int }),
  key: { partition: 't#{tenant_key}R#{inbox_key}', sort: 'c#*' },
  examples: [{ ...acme, users: 1 }],
});

// What is true of every deletion that a worker carries out.
const erasure = {
  startedat: int,
  finishedat: int.optional(),
  quietat: int.optional().describe('since when nothing was left, in milliseconds'),
  shard: int.optional(),
  dueat: int.optional().describe('when a worker should look at it, in milliseconds'),
  fence: z.string().optional().describe('which worker has it'),
  expiredat: int.optional(),
};

export const inboxErasure = entity(inboxTable, {
  name: 'inbox erasure',
  description: 'That an inbox was deleted, and how far the removal of what was in it has got.',
  kind: 'EJ',
  schema: z.object({
    ...place,
    by: z.string(),
    status: z.enum(['erasing', 'erased']),
    erased: int.describe('items removed so far'),
    ...erasure,
  }),
  key: { partition: 't#{tenant_key}', sort: 'se#{inbox_key}' },
  indexes: { due: { partition: 'ERASE#{shard}', sort: '{dueat:14}#{inbox_key}' } },
  examples: [
    {
      ...acme,
      by: 'usr_1',
      status: 'erasing',
      erased: 200,
      startedat: 1_764_000_000,
      shard: 0,
      dueat: 1_764_000_000_000,
    },
  ],
});

export const categoryErasure = entity(inboxTable, {
  name: 'category erasure',
  description: 'That a category was deleted, and how far the removal of its messages has got.',
  kind: 'CJ',
  schema: z.object({
    ...place,
    category: z.string(),
    by: z.string(),
    status: z.enum(['erasing', 'erased']),
    erased: int.describe('sends taken back so far'),
    ...erasure,
  }),
  key: { partition: 't#{tenant_key}', sort: 'sx#{inbox_key}#{category:text}' },
  indexes: { due: { partition: 'CATEGORY#{shard}', sort: '{dueat:14}#{inbox_key}#{category:text}' } },
  examples: [
    {
      ...acme,
      category: 'billing',
      by: 'usr_1',
      status: 'erasing',
      erased: 12,
      startedat: 1_764_000_000,
      shard: 0,
      dueat: 1_764_000_000_000,
    },
  ],
});

export const dueCategoryErasures = defineQuery('due erasures of categories', {
  of: categoryErasure,
  index: 'due',
});
export const dueErasures = defineQuery('due erasures of inboxes', { of: inboxErasure, index: 'due' });
export const sendsOfInbox = defineQuery('sends of an inbox', { of: send, newestFirst: true });
export const dueSends = defineQuery('due sends', { of: send, index: 'due' });
export const audienceOfSend = defineQuery('audience of a send', { of: audiencePart, consistent: true });
export const sendsOfHostId = defineQuery('sends of a host id', { of: sharedHostId, consistent: true });
export const membersOfInbox = defineQuery('members of an inbox', { of: member, consistent: true });
