import { boundedRecord, nameSchemas, pageOf } from '@stak/http';
import { isOneLine } from '@stak/kit';
import { z } from 'zod';
import { isKey, isUid, keyHint, uidHint } from './inbox-id.ts';
import * as limits from './limits.ts';
import { duration, isScheme, isUri, messageId, schemeHint } from './message-rules.ts';

// What goes over the wire. Attribute names are the table's own; times are in seconds since 1970.

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

// Nor can it store every name.
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
export const uid = z.string().max(limits.uidChars, { error: uidHint, abort: true }).refine(isUid, uidHint);
export const categoryKey = z
  .string()
  .max(limits.categoryChars)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'Letters, digits and . _ -, starting with a letter or a digit');
export const tenantParams = z.strictObject({ tenant_id: tenantKey });
export const inboxParams = tenantParams.extend({ inbox_key: inboxKey });
export const hostSystemId = text(limits.hostIdChars).min(1);

export const settingsBody = z.strictObject({
  title: text(limits.titleChars),
  ttl: duration(limits.tenantTtlS).optional(),
});
export const settingsShape = settingsBody.extend({
  tenant_key: z.string(),
  uid: z.string(),
  version: z.int(),
});

const lateJoiners = z.union([
  z.enum(['all', 'none']),
  z.strictObject({ last: z.int().min(1).max(limits.liveBroadcasts) }),
]);
export const inboxBody = z.strictObject({
  title: text(limits.titleChars),
  description: text(limits.descriptionChars).default(''),
  ttl: boundedRecord(categoryKey, duration(limits.messageTtlS), limits.categories + 1).default({}),
  schema: z
    .record(z.string(), z.unknown())
    .refine(storable, numbersHint)
    .refine(isNamed, namesHint)
    .optional(),
  late_joiners: lateJoiners.default('all'),
  unique_host_system_ids: z.boolean().default(true),
  cta_schemes: z
    .array(
      z.string().max(limits.schemeChars, { error: schemeHint, abort: true }).refine(isScheme, schemeHint),
    )
    .max(limits.ctaSchemes)
    .default([]),
});
export type InboxBody = z.output<typeof inboxBody>;
export const inboxShape = inboxBody.extend({
  tenant_key: z.string(),
  inbox_key: z.string(),
  uid: z.string(),
  version: z.int(),
});

const messageContent = z.strictObject({
  title: text(limits.titleChars).min(1),
  body: z.unknown().refine(storable, numbersHint).refine(isNamed, namesHint),
  cta_uri: z
    .string()
    .max(limits.uriChars, { abort: true })
    .refine(isUri, 'A URI without spaces; schemes that run code or hold data are not allowed')
    .nullable()
    .default(null),
});
const taxonomy = z.strictObject({ category: categoryKey });

const audiences = z.strictObject({ kind: z.enum(['users', 'everyone']), label: z.string().optional() });

const draft = z.strictObject({
  message: messageContent,
  taxonomy: taxonomy.optional(),
  host_system_id: hostSystemId.nullable().default(null),
  sender: text(limits.labelChars).min(1).optional(),
  label: text(limits.labelChars).optional(),
  ttl: duration(limits.messageTtlS).optional(),
  expiredat: moment.optional(),
  send_at: moment.optional(),
});
const uids = z
  .array(uid)
  .min(1)
  .max(limits.recipients)
  .refine(list => new Set(list).size === list.length, 'A uid is listed twice');

export const broadcastBody = draft;
export const publishBody = draft.extend({ uids });
export const bulkBody = z.strictObject({
  messages: z
    .array(publishBody)
    .min(1)
    .max(limits.bulkMessages)
    .refine(
      list => list.reduce((sum, one) => sum + one.uids.length, 0) <= limits.bulkRecipients,
      `At most ${limits.bulkRecipients} recipients in all`,
    ),
});
export type Draft = z.output<typeof draft>;
export type PublishBody = z.output<typeof publishBody>;

export const sendShape = z.strictObject({
  id: z.string(),
  host_system_id: z.string().nullable(),
  sender: z.string(),
  audiences,
  status: z.enum(['scheduled', 'delivering', 'sent', 'redacting', 'redacted', 'cancelled']),
  title: z.string().nullable(),
  taxonomy: taxonomy.optional(),
  received: moment,
  send_at: moment.optional(),
  expiredat: moment,
  recipients: z.int().nullable(),
  delivered: z.int(),
  read: z.int(),
  read_rate: z.number(),
});
export const bulkShape = z.strictObject({
  data: z.array(
    z.union([
      z.strictObject({ ok: z.literal(true), send: sendShape }),
      z.strictObject({ ok: z.literal(false), code: z.string(), detail: z.string() }),
    ]),
  ),
});

export const messageShape = z.strictObject({
  id: z.string(),
  host_system_id: z.string().nullable(),
  sender: z.string(),
  audiences,
  received: moment,
  delivered: moment,
  expiredat: moment,
  read: z.boolean(),
  readat: moment.nullable(),
  seen: z.boolean(),
  archived: z.boolean(),
  snoozed_until: moment.nullable(),
  taxonomy: taxonomy.optional(),
  message: z.strictObject({ title: z.string(), body: z.unknown(), cta_uri: z.string().nullable() }),
});
export type ShownMessage = z.output<typeof messageShape>;

const counted = { total: z.int(), unread: z.int(), unseen: z.int() };
export const countsShape = z.strictObject({
  ...counted,
  categories: z.record(z.string(), z.strictObject(counted)),
});
export type ShownCounts = z.output<typeof countsShape>;

export const erasureShape = z.strictObject({
  inbox_key: z.string(),
  status: z.enum(['erasing', 'erased']),
  erased: z.int(),
  startedat: moment,
  finishedat: moment.nullable(),
});
const { inbox_key: _, ...progress } = erasureShape.shape;
export const categoryErasureShape = z.strictObject({
  category: z.string(),
  ...progress,
  erased: z.int().describe('Sends redacted so far'),
});
export const categoryShape = z.strictObject({
  category: z.string(),
  until: moment.nullable(),
  deleting: z.boolean().describe('The category is being deleted, and its messages are no longer visible'),
});
export const publicCountsShape = z.strictObject({
  published: z.int(),
  categories: z.record(z.string(), z.int()),
  members: z.int(),
});
export const receiptShape = z.strictObject({
  uid: z.string(),
  read: z.boolean(),
  readat: moment.nullable(),
});

export const memberShape = z.strictObject({ uid: z.string(), joinedat: moment });

const flagText = z.enum(['true', 'false']);
const isTrue = (text: string): boolean => text === 'true';
const falseByDefault = flagText.default('false').transform(isTrue);
export const readFilter = flagText.transform(isTrue).optional();
export const feedFilters = {
  category: categoryKey.optional(),
  read: readFilter,
  archived: falseByDefault,
  snoozed: falseByDefault,
};

const ids = z.array(messageId).min(1).max(limits.marksPerCall);
const span = { since: moment.optional(), as_of: moment.optional(), category: categoryKey.optional() };
export const markIdsBody = z.strictObject({ ids });
export const markBody = z.union([z.strictObject({ ids }), z.strictObject(span)]);
export const snoozeBody = z.strictObject({ until: moment });
export const markedShape = z.strictObject({ changed: z.int(), not_found: z.array(z.string()) });
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
