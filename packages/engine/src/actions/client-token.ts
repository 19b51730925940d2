import { createHash } from 'node:crypto';
import type { Context } from '../context.ts';
import { DynamoError } from '../errors.ts';
import { serialize } from '../http/serialize.ts';
import { clientTokenMs } from '../limits.ts';
import type { Tx } from '../storage/committer.ts';
import { tokenExpiryKey, tokenKey } from '../storage/keys.ts';
import { decodeJson, encodeJson } from '../storage/store.ts';

type TokenRecord = { fingerprint: string; expiresAt: number };

// A retried transaction gets its response from `replay` and is not applied again. The record is written in the
// transaction it belongs to; it contains a fingerprint of the request, to tell a retry from another request with the
// same token.
export function answerOnce<T extends object>(
  context: Context,
  tx: Tx,
  token: string | undefined,
  payload: object,
  apply: () => T,
  replay: () => T,
): T {
  if (token === undefined) return apply();
  const key = tokenKey(token);
  const fingerprint = createHash('sha256').update(canonicalJson(payload)).digest('base64');
  const record = context.store.get(key, decodeJson) as TokenRecord | undefined;
  if (record && record.expiresAt > context.now()) {
    if (record.fingerprint === fingerprint) return replay();
    throw new DynamoError(
      'IdempotentParameterMismatchException',
      'The provided client token was used with a different request',
    );
  }
  const answer = apply();
  const expiresAt = context.now() + clientTokenMs;
  if (record) tx.remove(tokenExpiryKey(record.expiresAt, key));
  tx.put(key, encodeJson({ fingerprint, expiresAt } satisfies TokenRecord));
  tx.put(tokenExpiryKey(expiresAt, key), Buffer.alloc(0));
  return answer;
}

// The order of an object's members is not part of the request, nor is the class that holds its bytes.
function canonicalJson(value: object): string {
  return JSON.stringify(serialize(value), (_, member: unknown) => {
    if (member === null || typeof member !== 'object' || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
