import { looksSealed } from '@stak/kit';

// Replaces credentials in what an operator sees. Sealed values are shown as stored: they cannot be opened here.

export const mask = '••••••••';

// Anywhere in the name. Counts of tokens are numbers, and numbers are not secrets.
const secretName =
  /hash|password|secret|private|token|familykey|authorization|cookie|api[-_]?key$|^(?:sealed|record)$/i;
// `record` is a dead letter: the images of any item, including password hashes, as one text.

export const isSecretName = (name: string): boolean => secretName.test(name);

const isHarmless = (value: unknown): boolean =>
  value === null || ['number', 'bigint', 'boolean', 'undefined'].includes(typeof value);

export type Concealed = { value: unknown; note: 'masked' | 'sealed' | null };

export function conceal(name: string, value: unknown): Concealed {
  if (typeof value === 'string' && looksSealed(value)) return { value, note: 'sealed' };
  if (isSecretName(name) && !isHarmless(value)) return { value: mask, note: 'masked' };
  const shown = typeof value === 'string' ? concealText(value) : concealInside(value);
  return { value: shown, note: shown === value ? null : 'masked' };
}

// Returns the value itself if there is nothing to conceal.
function concealInside(value: unknown): unknown {
  if (Array.isArray(value)) {
    const shown = isSecretPair(value) ? [value[0], mask] : value.map(concealInside);
    return shown.every((one, i) => one === value[i]) ? value : shown;
  }
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || value instanceof Set)
    return value;
  const entries = Object.entries(value).map(([name, one]) => [name, conceal(name, one)] as const);
  if (entries.every(([, one]) => one.note !== 'masked')) return value;
  return Object.fromEntries(entries.map(([name, one]) => [name, one.value]));
}

// Headers are stored as pairs of a name and a value.
const isSecretPair = (value: readonly unknown[]): boolean =>
  value.length === 2 &&
  typeof value[0] === 'string' &&
  typeof value[1] === 'string' &&
  isSecretName(value[0]);

// Many nested values are stored as JSON.
function concealText(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return text;
  }
  const shown = concealInside(parsed);
  return shown === parsed ? text : JSON.stringify(shown);
}

// Hashes in keys of unknown meaning.
const digest = /[0-9a-f]{64}|[A-Za-z0-9_-]{43,}/g;

export const concealUnknownKey = (key: string): string => key.replaceAll(digest, mask);
