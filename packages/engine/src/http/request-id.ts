import { randomBytes } from 'node:crypto';

const counterDigits = 12;

// AWS's ids are 52 digits of base 32 (0-9, A-V). A random prefix per process and a counter give the same
// look and never collide, without asking for random bytes on every request.
const prefix = Array.from(randomBytes(52 - counterDigits), byte => (byte & 31).toString(32))
  .join('')
  .toUpperCase();

let counter = 0;

export function nextRequestId(): string {
  counter += 1;
  return prefix + counter.toString(32).toUpperCase().padStart(counterDigits, '0');
}
