import { keyRefused } from '../errors.ts';

// How a parameter becomes text in a key: as it is, percent-encoded (`{category:text}`), or as a number with
// leading zeros so that it sorts (`{attempt:6}`).
export type Format = 'plain' | 'text' | number;

// `#` separates the parts of every key. A part that contained it could pass for several parts, and so address another
// tenant's items.
export function keyPart(name: string, value: unknown, format: Format): string {
  if (typeof format === 'number') return paddedNumber(name, value, format);
  if (typeof value === 'number') return paddedNumber(name, value, 1);
  if (typeof value !== 'string') throw refused(name, `must be text or a number, not ${typeName(value)}`);
  if (value === '') throw refused(name, 'must not be empty');
  return format === 'text' ? encodeText(name, value) : plainText(name, value);
}

const isUsual = /^[\x30-\x7e]*$/; // printable ASCII after `/`

function plainText(name: string, value: string): string {
  if (isUsual.test(value)) return value;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    if (code >= 0x30 && code < 0x7f) continue;
    if (code === 0x23) throw refused(name, 'must not contain #');
    if (isControl(code)) throw refused(name, 'must not contain control characters');
    // UTF-8 encodes every lone surrogate as the same three bytes, so two keys would become one.
    if (code >= 0xd800 && code <= 0xdfff && !value.isWellFormed())
      throw refused(name, 'is not well-formed Unicode');
  }
  return value;
}

const isControl = (code: number) => code < 0x20 || (code >= 0x7f && code < 0xa0);

const isUnreserved = /^[A-Za-z0-9._~-]*$/;

// Stricter than encodeURIComponent, which leaves `*` as it is: the inbox stores its totals under `c#*`, which no
// category may reach.
function encodeText(name: string, value: string): string {
  if (isUnreserved.test(value)) return value;
  if (!value.isWellFormed()) throw refused(name, 'is not well-formed Unicode');
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function paddedNumber(name: string, value: unknown, digits: number): string {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    throw refused(name, 'must be a whole number from 0 up, or it would not sort');
  const text = String(value).padStart(digits, '0');
  if (digits > 1 && text.length > digits) throw refused(name, `must have at most ${digits} digits`);
  return text;
}

const refused = (name: string, why: string) =>
  keyRefused(`${name} cannot be part of a key: it ${why}`, { attribute: name });

const typeName = (value: unknown) =>
  value === null || value === undefined ? 'missing' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
