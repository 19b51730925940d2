import { entity } from '@stak/table';
import { z } from 'zod';
import { exampleId, exampleInbox, inboxId, inboxKeys, int, messageContent, taxonomy } from './inbox-keys.ts';

// Mailboxes of users, and the messages to everyone.

const user = { ...inboxId, uid: z.string() };
const forEveryone = { ...inboxId, uid: z.literal('$public').default('$public') };
const ann = { ...exampleInbox, uid: 'ann' };

const content = {
  id: z.string().describe('sorts by time; the same for all recipients of a send'),
  host_system_id: z.string().nullable(),
  sender: z.string(),
  cause: z.string().optional().describe('as in its send'),
  audiences: z.object({ kind: z.enum(['users', 'everyone']), label: z.string().optional() }),
  received: int.describe('when it was published, in seconds'),
  delivered: int.describe('when it was delivered, in seconds'),
  expiredat: int,
  taxonomy,
  message: messageContent,
};

const exampleMessage = {
  id: exampleId,
  host_system_id: null,
  sender: 'usr_1',
  received: 1_764_000_000,
  delivered: 1_764_000_000,
  expiredat: 4_000_000_000,
  taxonomy: { category: 'billing' },
  message: { title: 'Your invoice', body: 'It is due on Friday.', cta_uri: null },
};

export const userMessage = entity(inboxKeys, {
  name: 'user message',
  description: 'A message to one user, with its flags.',
  kind: 'UM',
  schema: z.object({
    ...user,
    ...content,
    readat: int.nullable(),
    seenat: int.nullable(),
    archivedat: int.nullable(),
    body_bytes: int.optional().describe('size of a shared body, which is stored as message body'),
    ordinal: int.describe("counts the user's messages"),
    touched: int.describe("the version of the user's stats when it was last marked: later ranges cover it"),
  }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'm#{id}' },
  sharesKeys: true,
  examples: [
    {
      ...ann,
      ...exampleMessage,
      audiences: { kind: 'users' },
      readat: null,
      seenat: null,
      archivedat: null,
      ordinal: 1,
      touched: 1,
    },
  ],
});

export const receipt = entity(inboxKeys, {
  name: 'read receipt',
  description: 'That a user has read a message to everyone. It has the key that the message would have.',
  schema: z.object({ ...user, id: z.string(), readat: int, expiredat: int, taxonomy }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'm#{id}' },
  sharesKeys: true,
  inKeyOnly: ['tenant_key', 'uid', 'inbox_key', 'id'],
  examples: [{ ...ann, id: '0mjuxvy9s01bbbbbbbbbbbbb', readat: 1_764_000_000, expiredat: 4_000_000_000 }],
});

const range = z.object({
  version: int,
  from: z.string().optional().describe('ids from here'),
  before: z.string().optional().describe('ids before this'),
  category: z.string().optional(),
  at: int,
  only_seen: z.literal(true).optional(),
});
const snooze = z.object({
  id: z.string(),
  until: int,
  expiredat: int,
  category: z.string().optional(),
  seq: int.optional().describe('of a message to everyone'),
});
const numbers = z.object({ to: int, also: z.array(int) });

export const userStats = entity(inboxKeys, {
  name: 'user stats',
  description:
    "The state of a user's mailbox: counts of the user's own messages, and which messages to everyone are read, seen and archived, by their numbers.",
  kind: 'US',
  schema: z.object({
    ...user,
    published: int.describe('own messages, as of the last write'),
    read: int.describe('those of them that are read'),
    counts: z.record(z.string(), z.tuple([int, int, int])).describe('by category: all, unread, unseen'),
    next_expiry: int.optional().describe('no own message expires before this second'),
    added: int.describe('own messages ever'),
    withdrawn: int.describe('own messages ever redacted'),
    withdrawn_ids: z.array(z.string()).describe('the last ones'),
    ranges: z.array(range).describe('mark-alls that are not yet written to the messages'),
    snoozed: z.array(snooze),
    joined: int.describe('the user does not see messages to everyone up to this number'),
    read_numbers: numbers,
    seen_numbers: numbers,
    archived_numbers: z.array(int),
    all_read_at: int.optional(),
    born: z.string().optional().describe('changes each time the user joins, because versions start again'),
    version: int,
  }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'c#*' },
  version: 'version',
  examples: [
    {
      ...ann,
      published: 1,
      read: 0,
      counts: { billing: [1, 1, 1] },
      next_expiry: 4_000_000_000,
      added: 1,
      withdrawn: 0,
      withdrawn_ids: [],
      ranges: [],
      snoozed: [],
      joined: 0,
      read_numbers: { to: 3, also: [5] },
      seen_numbers: { to: 5, also: [] },
      archived_numbers: [],
    },
  ],
});

export const categoryStats = entity(inboxKeys, {
  name: 'category stats',
  kind: 'US',
  schema: z.object({ ...user, category: z.string(), published: int, read: int }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'c#{category:text}' },
  inKeyOnly: ['category'],
  examples: [{ ...ann, category: 'billing', published: 1, read: 0 }],
});

export const expiry = entity(inboxKeys, {
  name: 'expiry',
  description:
    "When one of the user's own messages expires, and how it is counted until then. It is deleted when the counts are corrected, which can be after the message is gone.",
  kind: 'UE',
  schema: z.object({
    ...user,
    id: z.string(),
    expires: int,
    category: z.string().optional(),
    read: z.boolean(),
    seen: z.boolean(),
    archived: z.boolean(),
    touched: int,
  }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'x#{expires:10}#{id}' },
  examples: [
    {
      ...ann,
      id: exampleMessage.id,
      expires: 4_000_000_000,
      read: false,
      seen: false,
      archived: false,
      touched: 1,
    },
  ],
});

export const publicMessage = entity(inboxKeys, {
  name: 'public message',
  description: 'A message to everyone, stored once.',
  kind: 'UM',
  schema: z.object({ ...forEveryone, ...content, seq: int }),
  key: { partition: 't#{tenant_key}G#$public#{inbox_key}', sort: 'm#{id}' },
  examples: [{ ...exampleInbox, ...exampleMessage, audiences: { kind: 'everyone' }, seq: 1 }],
});

export const publicStats = entity(inboxKeys, {
  name: 'public stats',
  description:
    'The head of the list of messages to everyone: a reader of the list up to `seq` has all of it.',
  kind: 'US',
  schema: z.object({
    ...forEveryone,
    published: int.describe('messages to everyone that have not expired, as of the last write'),
    counts: z
      .record(z.string(), int)
      .optional()
      .describe('of them, by category, as in the category stats. Older items have none'),
    list: z.string().describe('identifies the list: after an erasure it is another one'),
    seq: int,
    redacting: z.array(z.string()).describe('ids of sends whose copies are being removed'),
    deleting: z
      .array(z.string())
      .optional()
      .describe('categories that are being deleted, whose messages are hidden'),
    erasing: z.literal(true).optional().describe('the inbox was deleted'),
    version: int,
  }),
  key: { partition: 't#{tenant_key}G#$public#{inbox_key}', sort: 'c#*' },
  version: 'version',
  examples: [
    { ...exampleInbox, published: 1, counts: { billing: 1 }, list: exampleMessage.id, seq: 1, redacting: [] },
  ],
});

export const publicCategoryStats = entity(inboxKeys, {
  name: 'public category stats',
  kind: 'US',
  schema: z.object({ ...forEveryone, category: z.string(), published: int }),
  key: { partition: 't#{tenant_key}G#$public#{inbox_key}', sort: 'c#{category:text}' },
  inKeyOnly: ['category'],
  examples: [{ ...exampleInbox, category: 'billing', published: 1 }],
});

export const broadcast = entity(inboxKeys, {
  name: 'broadcast',
  description:
    'An entry in the list of messages to everyone: a message was published or redacted, or a category deleted.',
  kind: 'PB',
  schema: z.object({
    ...forEveryone,
    seq: int,
    id: z.string(),
    category: z.string().optional(),
    expiredat: int,
    redacts: int.optional().describe('the number of the redacted message'),
    hides: z.literal(true).optional().describe('from this entry on the messages of the category are hidden'),
  }),
  key: { partition: 't#{tenant_key}G#$public#{inbox_key}', sort: 'b#{seq:10}' },
  examples: [
    { ...exampleInbox, seq: 1, id: exampleMessage.id, category: 'billing', expiredat: 4_000_000_000 },
  ],
});
