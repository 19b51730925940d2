import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

// Codes of an authenticator app (RFC 6238) with the values that every app supports: SHA-1, six digits, 30 seconds.
// Written here because it takes twenty lines on node:crypto, and the rest of a library would go unused.

const stepS = 30;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const newSecret = (): Uint8Array => randomBytes(20);

// Base32, the form that people type and apps read.
export function secretText(secret: Uint8Array): string {
  let bits = '';
  for (const byte of secret) bits += byte.toString(2).padStart(8, '0');
  return bits.replaceAll(/.{1,5}/g, part => alphabet[Number.parseInt(part.padEnd(5, '0'), 2)]!);
}

export function secretUri(secret: Uint8Array, issuer: string, email: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?secret=${secretText(secret)}&issuer=${encodeURIComponent(issuer)}`;
}

export function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const number = mac.readUInt32BE(mac[19]! & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

export const stepOf = (nowMs: number): number => Math.floor(nowMs / 1000 / stepS);

// The time step of the code: the current one, or the one before or after it to allow for clock skew. Steps up to
// `lastStep` are refused, so that a code works only once.
export function matchCode(
  secret: Uint8Array,
  code: string,
  nowMs: number,
  lastStep: number,
): number | undefined {
  const now = stepOf(nowMs);
  return [now, now - 1, now + 1].find(
    step => step > lastStep && timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(code)),
  );
}
