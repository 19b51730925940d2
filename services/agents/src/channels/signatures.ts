import { createHmac, timingSafeEqual } from 'node:crypto';
import * as limits from '../limits.ts';

// Compares in constant time.
export function isSame(given: string | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return expected !== '' && a.length === b.length && timingSafeEqual(a, b);
}

export function hmacHex(secret: string, ...parts: readonly (string | Uint8Array)[]): string {
  const mac = createHmac('sha256', secret);
  for (const part of parts) mac.update(part);
  return mac.digest('hex');
}

export const isRecent = (timestamp: string | undefined, nowMs: number): boolean =>
  timestamp !== undefined &&
  /^\d{1,12}$/.test(timestamp) &&
  Math.abs(nowMs / 1000 - Number(timestamp)) <= limits.signatureToleranceS;

type Json = { readonly [name: string]: unknown };

export const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
// Some providers send ids as numbers.
export const asText = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
export const asNumber = (value: unknown): number | undefined => {
  const number = Number(asText(value) || Number.NaN);
  return Number.isFinite(number) ? number : undefined;
};

// A body that is not JSON has no messages. It was signed, so the response is a success anyway.
export function readJson(body: Uint8Array): Json {
  try {
    return asObject(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
  } catch {
    return {};
  }
}
