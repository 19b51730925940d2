import { hash } from 'node:crypto';
import { inboxErrors } from './errors.ts';
import * as limits from './limits.ts';

export type InboxId = { tenant_key: string; inbox_key: string };
export type MailboxId = InboxId & { uid: string };

// Keys of tenants and inboxes are lower case, so no key can run on into the `U`, `G` or `S` that follows it in
// `t#<tenant>U#…`: a policy that allows `t#acmeU#*` allows `acme` alone.
const keyShape = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const uidShape = /^[A-Za-z0-9_][A-Za-z0-9._:@|+=~-]*$/;

export const isKey = (text: string): boolean => text.length <= limits.keyChars && keyShape.test(text);
// `$public` stands for everyone and `me` for the caller, so neither can be a user.
export const isUid = (text: string): boolean =>
  text.length <= limits.uidChars && text !== 'me' && uidShape.test(text);

export const keyHint = 'Lower case letters, digits and dashes, at most 63';
export const uidHint =
  'Letters, digits and . _ : @ | + = ~ -, beginning with a letter, a digit or _; not "me"';

// For operations that other services call without HTTP.
export function checkInboxId({ tenant_key, inbox_key, uid }: InboxId & { uid?: string }): void {
  if (!isKey(tenant_key) || !isKey(inbox_key))
    throw inboxErrors.create('inbox.key_invalid', `The key of a tenant or an inbox: ${keyHint}`);
  if (uid !== undefined && !isUid(uid)) throw inboxErrors.create('inbox.key_invalid', `A uid: ${uidHint}`);
}

// Sends of an inbox are spread over partitions, each of which takes 1,000 write units a second on DynamoDB:
// `t#<tenant>S#<inbox>~3` and so on. Earlier versions kept all of it in `t#<tenant>S#<inbox>`, where it still is.
// No key of an inbox has a `~`. docs/adr/0113-what-an-inbox-sent-is-spread.md
export const bucketOf = ({ inbox_key }: Pick<InboxId, 'inbox_key'>, text: string): string =>
  `${inbox_key}~${hash('sha256', text, 'buffer')[0]! % limits.sendBuckets}`;

export const bucketsOf = ({ inbox_key }: Pick<InboxId, 'inbox_key'>): string[] => [
  inbox_key,
  ...Array.from({ length: limits.sendBuckets }, (_, i) => `${inbox_key}~${i}`),
];

export const inboxOfBucket = (bucket: string): string => bucket.replace(/~\d+$/, '');

export const inboxText = ({ tenant_key, inbox_key }: InboxId): string => `${tenant_key}#${inbox_key}`;
export const mailboxText = ({ tenant_key, inbox_key, uid }: MailboxId): string =>
  `${tenant_key}#${inbox_key}#${uid}`;
