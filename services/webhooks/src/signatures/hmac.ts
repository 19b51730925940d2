import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { HeaderPair } from '../filters/request-view.ts';
import * as limits from './limits.ts';
import type { HmacConfig, RefusalReason, Verification } from './provider.ts';

type Part = string | Uint8Array;

export function createMac(
  algorithm: HmacConfig['algorithm'],
  key: Part,
  parts: readonly Part[],
  encoding: HmacConfig['encoding'],
): string {
  const mac = createHmac(algorithm, key);
  for (const part of parts) mac.update(part);
  return mac.digest(encoding);
}

// Takes the same time wherever the two differ; only their lengths, which are public, end it early.
export function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export const refuse = (reason: RefusalReason): Verification => ({ ok: false, reason });

// Any of the sent signatures may be made with any of the known keys: both sides rotate.
export function judge(
  given: readonly string[],
  expected: readonly string[],
  dedupeId: string | undefined,
): Verification {
  if (expected.length === 0) return refuse('no_secret');
  let matched = false;
  for (const one of given.slice(0, limits.signatures))
    for (const other of expected) matched = isSame(one, other) || matched;
  return matched ? accept(dedupeId) : refuse('mismatch');
}

export function accept(dedupeId: string | undefined): Verification {
  if (!dedupeId) return { ok: true };
  if (dedupeId.length <= limits.dedupeIdChars) return { ok: true, dedupeId };
  return { ok: true, dedupeId: `sha256:${createHash('sha256').update(dedupeId).digest('hex')}` };
}

// The first one with that name, or undefined when there is none or it is longer than any real one.
export function readHeader(headers: readonly HeaderPair[], name: string): string | undefined {
  const found = headers.find(([one]) => one.toLowerCase() === name)?.[1].trim();
  return found === undefined || found.length > limits.signatureChars ? undefined : found;
}

// Unix seconds as all but a few senders write them, or milliseconds.
export function readTimestamp(text: string): number | undefined {
  if (!/^\d{1,13}$/.test(text)) return undefined;
  return text.length >= 12 ? Number(text) / 1000 : Number(text);
}

export function isStale(timestampS: number, nowMs: number, toleranceS = limits.toleranceS): boolean {
  return Math.abs(nowMs / 1000 - timestampS) > toleranceS;
}

// A field at the top of a JSON body, for ids that senders put there.
export function readBodyId(rawBody: Uint8Array, field: string): string | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(rawBody).toString());
    const id: unknown = Object.entries(value ?? {}).find(([name]) => name === field)?.[1];
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
