import { inboxErrors } from './errors.ts';
import * as limits from './limits.ts';

export type Place = { tenant_key: string; inbox_key: string };
export type UserPlace = Place & { uid: string };

// Tenants and inboxes are lower case: no tenant's key can run on into the `U`, `G` or `S` that follows it in
// `t#<tenant>U#…`, so whoever may reach `t#acmeU#*` reaches `acme` alone.
const keyShape = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const uidShape = /^[A-Za-z0-9_][A-Za-z0-9._:@|+=~-]*$/;

export const isKey = (text: string): boolean => text.length <= limits.keyChars && keyShape.test(text);
// `$public` is everyone and `me` is the caller: neither can be somebody.
export const isUid = (text: string): boolean =>
  text.length <= limits.uidChars && text !== 'me' && uidShape.test(text);

export const keyHint = 'Lower case letters, digits and dashes, at most 63';
export const uidHint =
  'Letters, digits and . _ : @ | + = ~ -, beginning with a letter, a digit or _; not "me"';

// For operations that are called by other services rather than through HTTP.
export function checkPlace({ tenant_key, inbox_key, uid }: Place & { uid?: string }): void {
  if (!isKey(tenant_key) || !isKey(inbox_key))
    throw inboxErrors.create('inbox.key_invalid', `A tenant or an inbox: ${keyHint}`);
  if (uid !== undefined && !isUid(uid)) throw inboxErrors.create('inbox.key_invalid', `A uid: ${uidHint}`);
}

export const placeText = ({ tenant_key, inbox_key }: Place): string => `${tenant_key}#${inbox_key}`;
export const userText = ({ tenant_key, inbox_key, uid }: UserPlace): string =>
  `${tenant_key}#${inbox_key}#${uid}`;
