import { boundedRecord, nameSchemas, pageOf } from '@stak/http';
import { isOneLine } from '@stak/kit';
import { z } from 'zod';
import { isKey, isUid, keyHint, uidHint } from './inbox-id.ts';
import * as limits from './limits.ts';
import { duration, isScheme, isUri, messageId, schemeHint } from './message-rules.ts';

// Requests and responses of the API. Attribute names are the table's own; times are in seconds since 1970.

const text = (most: number) => z.string().max(most).refine(isOneLine, 'No control characters');
const moment = z.int().min(0).max(99_999_999_999);

// JSON allows numbers that DynamoDB cannot store exactly, or at all.
const storable = (value: unknown): boolean => {
  if (typeof value === 'object' && value !== null) return Object.values(value).every(storable);
  if (typeof value !== 'number' || value === 0) return true;
  const size = Math.abs(value);
  return size >= 1e-130 && size <= Number.MAX_SAFE_INTEGER;
};
const numbersHint = 'A number is too large or too small; send it as a string';

// DynamoDB cannot store every name.
const isNamed = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isNamed);
  const isName = (name: string) => name !== '' && Buffer.byteLength(name) <= limits.fieldNameBytes;
  return Object.entries(value).every(([name, inner]) => isName(name) && isNamed(inner));
};
const namesHint = `A field needs a name, of at most ${limits.fieldNameBytes} bytes`;

const key = z.string().max(limits.keyChars, { error: keyHint, abort: true }).refine(isKey, keyHint);
const tenantKey = key;
const inboxKey = key;
export const uid = z
  .string()
  .max(limits.uidChars, { error: uidHint, abort: true })
  .refine(isUid, uidHint)
  .describe('The id of the user.');
export const categoryKey = z
  .string()
  .max(limits.categoryChars)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'Letters, digits and . _ -, starting with a letter or a digit')
  .describe('The category, a short name of your choice.');
export const tenantParams = z.strictObject({ tenant_id: tenantKey.describe('The id of the tenant.') });
export const inboxParams = tenantParams.extend({ inbox_key: inboxKey.describe('The key of the inbox.') });
export const hostSystemId = text(limits.hostIdChars).min(1);

export const settingsBody = z.strictObject({
  title: text(limits.titleChars).describe('A title for people.'),
  ttl: duration(limits.tenantTtlS)
    .optional()
    .describe('How long its messages are kept, such as `30d` or `12h`.'),
});
export const settingsShape = settingsBody.extend({
  tenant_key: z.string().describe('The id of the tenant.'),
  uid: z.string().describe('Who wrote it last.'),
  version: z.int().describe('Grows with every change; the ETag is made from it.'),
});

const lateJoiners = z.union([
  z.enum(['all', 'none']),
  z.strictObject({
    last: z.int().min(1).max(limits.liveBroadcasts).describe('How many of the last messages.'),
  }),
]);
export const inboxBody = z.strictObject({
  title: text(limits.titleChars).describe('A title for people.'),
  description: text(limits.descriptionChars).default('').describe('A description for people.'),
  ttl: boundedRecord(categoryKey, duration(limits.messageTtlS), limits.categories + 1)
    .default({})
    .describe('How long messages of each category are kept, such as `30d` or `12h`.'),
  schema: z
    .record(z.string(), z.unknown())
    .refine(storable, numbersHint)
    .refine(isNamed, namesHint)
    .optional()
    .describe('A JSON Schema that the body of each message must fit.'),
  late_joiners: lateJoiners.default('all').describe('Which earlier messages to everyone a new user sees.'),
  unique_host_system_ids: z
    .boolean()
    .default(true)
    .describe('Whether each `host_system_id` may be used once only.'),
  cta_schemes: z
    .array(
      z.string().max(limits.schemeChars, { error: schemeHint, abort: true }).refine(isScheme, schemeHint),
    )
    .max(limits.ctaSchemes)
    .default([])
    .describe('URI schemes that links may have besides https.'),
});
export type InboxBody = z.output<typeof inboxBody>;
export const inboxShape = inboxBody.extend({
  tenant_key: z.string().describe('The id of the tenant.'),
  inbox_key: z.string().describe('The key of the inbox.'),
  uid: z.string().describe('Who wrote it last.'),
  version: z.int().describe('Grows with every change; the ETag is made from it.'),
});

const messageContent = z.strictObject({
  title: text(limits.titleChars).min(1).describe('The title of the message.'),
  body: z
    .unknown()
    .refine(storable, numbersHint)
    .refine(isNamed, namesHint)
    .describe('The body of the message, any JSON.'),
  cta_uri: z
    .string()
    .max(limits.uriChars, { abort: true })
    .refine(isUri, 'A URI without spaces; schemes that run code or hold data are not allowed')
    .nullable()
    .default(null)
    .describe('A link that the message leads to.'),
});
const taxonomy = z.strictObject({ category: categoryKey });

const audiences = z.strictObject({
  kind: z.enum(['users', 'everyone']).describe('Whether it goes to `users` or to `everyone`.'),
  label: z.string().optional().describe('A name for the audience.'),
});

const draft = z.strictObject({
  message: messageContent,
  taxonomy: taxonomy.optional(),
  host_system_id: hostSystemId
    .nullable()
    .default(null)
    .describe('Your own id of the message. The same id is stored once.'),
  sender: text(limits.labelChars).min(1).optional().describe('Who sent it.'),
  label: text(limits.labelChars).optional().describe('A name for the audience.'),
  ttl: duration(limits.messageTtlS).optional().describe('How long it is kept, such as `30d` or `12h`.'),
  expiredat: moment.optional().describe('When it expires, in seconds since 1970.'),
  send_at: moment.optional().describe('When to send it, in seconds since 1970.'),
});
const uids = z
  .array(uid)
  .min(1)
  .max(limits.recipients)
  .refine(list => new Set(list).size === list.length, 'A uid is listed twice');

export const broadcastBody = draft;
export const publishBody = draft.extend({ uids: uids.describe('The users that receive it.') });
export const bulkBody = z.strictObject({
  messages: z
    .array(publishBody)
    .min(1)
    .max(limits.bulkMessages)
    .refine(
      list => list.reduce((sum, one) => sum + one.uids.length, 0) <= limits.bulkRecipients,
      `At most ${limits.bulkRecipients} recipients in all`,
    )
    .describe('The messages to send.'),
});
export type Draft = z.output<typeof draft>;
export type PublishBody = z.output<typeof publishBody>;

export const sendShape = z.strictObject({
  id: z.string().describe('The id of the send.'),
  host_system_id: z.string().nullable().describe('Your own id of the message.'),
  sender: z.string().describe('Who sent it.'),
  audiences,
  status: z
    .enum(['scheduled', 'delivering', 'sent', 'redacting', 'redacted', 'cancelled'])
    .describe('How far the send is.'),
  title: z.string().nullable().describe('The title of the message; null once it is redacted.'),
  taxonomy: taxonomy.optional(),
  received: moment.describe('When it was accepted, in seconds since 1970.'),
  send_at: moment.optional().describe('When to send it, in seconds since 1970.'),
  expiredat: moment.describe('When it expires, in seconds since 1970.'),
  recipients: z.int().nullable().describe('How many users receive it; null if it goes to everyone.'),
  delivered: z.int().describe('How many users it was delivered to.'),
  read: z.int().describe('How many users have read it.'),
  read_rate: z.number().describe('The share of recipients who have read it, from 0 to 1.'),
});
export const bulkShape = z.strictObject({
  data: z
    .array(
      z.union([
        z.strictObject({
          ok: z.literal(true).describe('Whether the message was accepted.'),
          send: sendShape,
        }),
        z.strictObject({
          ok: z.literal(false).describe('Whether the message was accepted.'),
          code: z.string().describe('The code of the error.'),
          detail: z.string().describe('What is wrong, in a sentence.'),
        }),
      ]),
    )
    .describe('One result per message, in the same order.'),
});

export const messageShape = z.strictObject({
  id: z.string().describe('The id of the message.'),
  host_system_id: z.string().nullable().describe('Your own id of the message.'),
  sender: z.string().describe('Who sent it.'),
  audiences,
  received: moment.describe('When it was accepted, in seconds since 1970.'),
  delivered: moment.describe('When it was delivered, in seconds since 1970.'),
  expiredat: moment.describe('When it expires, in seconds since 1970.'),
  read: z.boolean().describe('Whether the user has read it.'),
  readat: moment.nullable().describe('When it was read, in seconds since 1970.'),
  seen: z.boolean().describe('Whether the user has seen it in the list.'),
  archived: z.boolean().describe('Whether the user has archived it.'),
  snoozed_until: moment.nullable().describe('Until when the message is hidden, in seconds since 1970.'),
  taxonomy: taxonomy.optional(),
  message: z
    .strictObject({
      title: z.string().describe('The title of the message.'),
      body: z.unknown().describe('The body of the message, any JSON.'),
      cta_uri: z.string().nullable().describe('A link that the message leads to.'),
    })
    .describe('The message itself.'),
});
export type ShownMessage = z.output<typeof messageShape>;

const counted = {
  total: z.int().describe('How many messages there are.'),
  unread: z.int().describe('How many are unread.'),
  unseen: z.int().describe('How many are unseen.'),
};
export const countsShape = z.strictObject({
  ...counted,
  categories: z.record(z.string(), z.strictObject(counted)).describe('The same numbers for each category.'),
});
export type ShownCounts = z.output<typeof countsShape>;

export const erasureShape = z.strictObject({
  inbox_key: z.string().describe('The key of the inbox.'),
  status: z.enum(['erasing', 'erased']).describe('Whether it is still being erased.'),
  erased: z.int().describe('How many messages are erased so far.'),
  startedat: moment.describe('When it started, in seconds since 1970.'),
  finishedat: moment.nullable().describe('When it finished, in seconds since 1970.'),
});
const { inbox_key: _, ...progress } = erasureShape.shape;
export const categoryErasureShape = z.strictObject({
  category: z.string().describe('The category, a short name of your choice.'),
  ...progress,
  erased: z.int().describe('Sends redacted so far'),
});
export const categoryShape = z.strictObject({
  category: z.string().describe('The category, a short name of your choice.'),
  until: moment
    .nullable()
    .describe('When the last of its messages expires, in seconds since 1970; null if it has none.'),
  deleting: z.boolean().describe('The category is being deleted, and its messages are no longer visible'),
});
export const publicCountsShape = z.strictObject({
  published: z.int().describe('How many messages to everyone were published.'),
  categories: z.record(z.string(), z.int()).describe('How many of them each category has.'),
  members: z.int().describe('How many users the inbox has.'),
});
export const receiptShape = z.strictObject({
  uid: z.string().describe('The id of the user.'),
  read: z.boolean().describe('Whether the user has read it.'),
  readat: moment.nullable().describe('When it was read, in seconds since 1970.'),
});

export const memberShape = z.strictObject({
  uid: z.string().describe('The id of the user.'),
  joinedat: moment.describe('When the user joined, in seconds since 1970.'),
});

const flagText = z.enum(['true', 'false']);
const isTrue = (text: string): boolean => text === 'true';
const falseByDefault = flagText.default('false').transform(isTrue);
export const readFilter = flagText.transform(isTrue).optional();
export const feedFilters = {
  category: categoryKey.optional(),
  read: readFilter.describe('Only messages that are read, or are not.'),
  archived: falseByDefault.describe('Whether to list archived messages instead.'),
  snoozed: falseByDefault.describe('Whether to list snoozed messages instead.'),
};

const ids = z.array(messageId).min(1).max(limits.marksPerCall);
const span = {
  since: moment.optional().describe('Messages from this moment on, in seconds since 1970.'),
  as_of: moment.optional().describe('Messages up to this moment, in seconds since 1970.'),
  category: categoryKey.optional(),
};
export const markIdsBody = z.strictObject({ ids: ids.describe('The ids of the messages.') });
export const markBody = z.union([
  z.strictObject({ ids: ids.describe('The ids of the messages.') }),
  z.strictObject(span),
]);
export const snoozeBody = z.strictObject({
  until: moment.describe('Until when the message is hidden, in seconds since 1970.'),
});
export const markedShape = z.strictObject({
  changed: z.int().describe('How many messages changed.'),
  not_found: z.array(z.string()).describe('The ids that do not exist.'),
});
export const sendPage = pageOf(sendShape);
nameSchemas({
  SendPage: sendPage,
  Taxonomy: taxonomy,
  LastMessages: lateJoiners.options[1],
  Audiences: audiences,
  MessageIds: markIdsBody,
  InboxSettings: settingsShape,
  Inbox: inboxShape,
  MessageContent: messageContent,
  NewMessage: publishBody,
  MarkRange: markBody.options[1],
  Send: sendShape,
  Message: messageShape,
  MessageCounts: countsShape,
  InboxErasure: erasureShape,
  CategoryErasure: categoryErasureShape,
  Category: categoryShape,
  Receipt: receiptShape,
  InboxMember: memberShape,
  MarkedMessages: markedShape,
});
