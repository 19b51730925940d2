import { defineQuery, defineTable, entity } from '@stak/table';
import { z } from 'zod';

export const inboxTable = defineTable({
  name: 'stak-inbox',
  description: 'Messages to users and to everyone, what users did with them, and exact counts.',
  keys: { partition: 'pk', sort: 'sk' },
  indexes: { due: { partition: 'duepk', sort: 'duesk', project: 'KEYS_ONLY' } },
  ttl: 'expiredat',
  stream: 'NEW_AND_OLD_IMAGES',
});

const int = z.number().int();
const place = { tenant_key: z.string(), inbox_key: z.string() };
const user = { ...place, uid: z.string() };
const forEveryone = { ...place, uid: z.literal('$public').default('$public') };
const ann = { tenant_key: 'acme', inbox_key: 'main', uid: 'ann' };
const acme = { tenant_key: 'acme', inbox_key: 'main' };

export const messageContent = z.object({
  title: z.string(),
  body: z.unknown().optional(),
  cta_uri: z.string().nullable(),
});
export const taxonomy = z.object({ category: z.string() }).optional();
const content = {
  id: z.string().describe('sorts by time; the same for all recipients of a send'),
  host_system_id: z.string().nullable(),
  sender: z.string(),
  audiences: z.object({ kind: z.enum(['users', 'everyone']), label: z.string().optional() }),
  received: int.describe('when Stak took it, in seconds'),
  delivered: int.describe('when it was put here, in seconds'),
  expiredat: int,
  taxonomy,
  message: messageContent,
};

export const tenantSettings = entity(inboxTable, {
  name: 'tenant settings',
  kind: 'TS',
  schema: z.object({
    tenant_key: z.string(),
    title: z.string(),
    ttl: z.string().optional(),
    uid: z.string().describe('who wrote it last'),
    version: int,
  }),
  key: { partition: 't#{tenant_key}', sort: 'st#tenant_settings' },
  version: 'version',
  examples: [{ tenant_key: 'acme', title: 'Acme', ttl: '30d', uid: 'usr_1' }],
});

export const inboxConfig = entity(inboxTable, {
  name: 'inbox config',
  kind: 'IC',
  schema: z.object({
    ...place,
    title: z.string(),
    description: z.string(),
    ttl: z.record(z.string(), z.string()).describe('by category, and `default`'),
    schema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of message bodies'),
    late_joiners: z.union([z.enum(['all', 'none']), z.object({ last: int })]),
    unique_host_system_ids: z.boolean(),
    cta_schemes: z.array(z.string()).optional().describe('of links, besides https, http and mailto'),
    uid: z.string().describe('who wrote it last'),
    erasing: z.literal(true).optional().describe('it was deleted; what is in it is being removed'),
    version: int,
  }),
  key: { partition: 't#{tenant_key}', sort: 'si#{inbox_key}' },
  version: 'version',
  examples: [
    {
      ...acme,
      title: 'News',
      description: '',
      ttl: { default: '30d' },
      late_joiners: 'all',
      unique_host_system_ids: true,
      uid: 'usr_1',
    },
  ],
});

export const inboxCategories = entity(inboxTable, {
  name: 'inbox categories',
  description: 'The categories of an inbox, and until when there may be messages in them.',
  kind: 'SC',
  schema: z.object({
    ...place,
    categories: z.array(z.string()),
    until: z.record(z.string(), int).optional().describe('by category, in seconds'),
    deleting: z.array(z.string()).optional().describe('those that are being deleted with their messages'),
    version: int,
  }),
  key: { partition: 't#{tenant_key}', sort: 'sc#{inbox_key}' },
  version: 'version',
  examples: [{ ...acme, categories: ['billing'], until: { billing: 4_000_000_000 } }],
});

const exampleMessage = {
  id: '0mjuxvy9s00aaaaaaaaaaaaa',
  host_system_id: null,
  sender: 'usr_1',
  received: 1_764_000_000,
  delivered: 1_764_000_000,
  expiredat: 4_000_000_000,
  taxonomy: { category: 'billing' },
  message: { title: 'Your invoice', body: 'It is due on Friday.', cta_uri: null },
};

export const userMessage = entity(inboxTable, {
  name: 'user message',
  description: 'A message to one user, with what the user did with it.',
  kind: 'UM',
  schema: z.object({
    ...user,
    ...content,
    readat: int.nullable(),
    seenat: int.nullable(),
    archivedat: int.nullable(),
    body_bytes: int.optional().describe('of a body that all recipients share: it is in the message body'),
    ordinal: int.describe("the how-manieth message of the user's inbox"),
    touched: int.describe("the version of the user's stats at the last mark on it: later ranges go over it"),
  }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'm#{id}' },
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

export const receipt = entity(inboxTable, {
  name: 'read receipt',
  description: 'That a user has read a message to everyone. It stands where the message would.',
  schema: z.object({ ...user, id: z.string(), readat: int, expiredat: int, taxonomy }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'm#{id}' },
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

export const userStats = entity(inboxTable, {
  name: 'user stats',
  description:
    "The state of a user's inbox. Counts of the user's own messages; which messages to everyone are read, seen and archived, by their numbers.",
  kind: 'US',
  schema: z.object({
    ...user,
    published: int.describe('own messages in the inbox, as of the last write'),
    read: int.describe('those of them that are read'),
    counts: z.record(z.string(), z.tuple([int, int, int])).describe('by category: all, unread, unseen'),
    next_expiry: int.optional().describe('no own message expires before this second'),
    added: int.describe('own messages ever'),
    withdrawn: int.describe('own messages that were redacted, ever'),
    withdrawn_ids: z.array(z.string()).describe('the last of them'),
    ranges: z.array(range).describe('"all read" and "all seen", not yet written to the messages'),
    snoozed: z.array(snooze),
    joined: int.describe('messages to everyone up to this number are not for this user'),
    read_numbers: numbers,
    seen_numbers: numbers,
    archived_numbers: z.array(int),
    all_read_at: int.optional(),
    born: z.string().optional().describe('another one each time the user joins, where versions begin anew'),
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

export const categoryStats = entity(inboxTable, {
  name: 'category stats',
  kind: 'US',
  schema: z.object({ ...user, category: z.string(), published: int, read: int }),
  key: { partition: 't#{tenant_key}U#{uid}#{inbox_key}', sort: 'c#{category:text}' },
  inKeyOnly: ['category'],
  examples: [{ ...ann, category: 'billing', published: 1, read: 0 }],
});

export const expiry = entity(inboxTable, {
  name: 'expiry',
  description:
    "When one of the user's own messages expires, and how it counts until then. It outlives the message, which is removed at any time after that, until it is no longer counted.",
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

export const publicMessage = entity(inboxTable, {
  name: 'public message',
  description: 'A message to everyone, stored once.',
  kind: 'UM',
  schema: z.object({ ...forEveryone, ...content, seq: int }),
  key: { partition: 't#{tenant_key}G#$public#{inbox_key}', sort: 'm#{id}' },
  examples: [{ ...acme, ...exampleMessage, audiences: { kind: 'everyone' }, seq: 1 }],
});

export const publicStats = entity(inboxTable, {
  name: 'public stats',
  description: 'The head of the list of messages to everyone: whoever has read the list up to `seq` has all.',
  kind: 'US',
  schema: z.object({
    ...forEveryone,
    published: int.describe('messages to everyone that are live, as of the last write'),
    counts: z
      .record(z.string(), int)
      .optional()
      .describe('of them, by category: what the category stats say. None where it was written without'),
    list: z.string().describe('which list it is the head of: one that was erased is another one'),
    seq: int,
    redacting: z.array(z.string()).describe('ids of sends to users whose copies are being removed'),
    deleting: z
      .array(z.string())
      .optional()
      .describe('categories that are being deleted: nobody sees their messages any more'),
    erasing: z.literal(true).optional().describe('the inbox was deleted: nobody reads it any more'),
    version: int,
  }),
  key: { partition: 't#{tenant_key}G#$public#{inbox_key}', sort: 'c#*' },
  version: 'version',
  examples: [
    { ...acme, published: 1, counts: { billing: 1 }, list: exampleMessage.id, seq: 1, redacting: [] },
  ],
});

export const publicCategoryStats = entity(inboxTable, {
  name: 'public category stats',
  kind: 'US',
  schema: z.object({ ...forEveryone, category: z.string(), published: int }),
  key: { partition: 't#{tenant_key}G#$public#{inbox_key}', sort: 'c#{category:text}' },
  inKeyOnly: ['category'],
  examples: [{ ...acme, category: 'billing', published: 1 }],
});

export const broadcast = entity(inboxTable, {
  name: 'broadcast',
  description:
    'A line of the list of messages to everyone: one was published, one is redacted, or a category is deleted.',
  kind: 'PB',
  schema: z.object({
    ...forEveryone,
    seq: int,
    id: z.string(),
    category: z.string().optional(),
    expiredat: int,
    redacts: int.optional().describe('the number of the message that is gone'),
    hides: z.literal(true).optional().describe('from this line on nobody sees what is in the category'),
  }),
  key: { partition: 't#{tenant_key}G#$public#{inbox_key}', sort: 'b#{seq:10}' },
  examples: [{ ...acme, seq: 1, id: exampleMessage.id, category: 'billing', expiredat: 4_000_000_000 }],
});

export const messagesOfUser = defineQuery('messages of a user', {
  of: [userMessage, receipt],
  newestFirst: true,
  consistent: true,
});
export const expiriesOfUser = defineQuery('next expiries of a user', { of: expiry, consistent: true });
export const broadcastsOfInbox = defineQuery('broadcasts of an inbox', { of: broadcast, consistent: true });
export const publicCategories = defineQuery('public category stats of an inbox', {
  of: publicCategoryStats,
  consistent: true,
});
export const inboxesOfTenant = defineQuery('inboxes of a tenant', { of: inboxConfig, consistent: true });
