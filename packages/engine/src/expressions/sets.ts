import type { AttributeValue } from '../values/attribute-value.ts';
import { binaryText, compareBytes, compareStrings } from '../values/compare.ts';
import { compareNumbers } from '../values/number.ts';

export type SetValue = Extract<AttributeValue, { SS: string[] } | { NS: string[] } | { BS: Uint8Array[] }>;

// Both sets have the same type; numbers are canonical, so equal members are equal text. Sets are stored sorted.
export function addToSet(set: SetValue, added: SetValue): SetValue {
  if ('SS' in set && 'SS' in added) return { SS: union(set.SS, added.SS, identity).sort(compareStrings) };
  if ('NS' in set && 'NS' in added) return { NS: union(set.NS, added.NS, identity).sort(compareNumbers) };
  if ('BS' in set && 'BS' in added) return { BS: union(set.BS, added.BS, binaryText).sort(compareBytes) };
  throw new TypeError('sets of different types');
}

export function deleteFromSet(set: SetValue, removed: SetValue): SetValue | undefined {
  if ('SS' in set && 'SS' in removed) {
    const SS = difference(set.SS, removed.SS, identity);
    return SS.length > 0 ? { SS } : undefined;
  }
  if ('NS' in set && 'NS' in removed) {
    const NS = difference(set.NS, removed.NS, identity);
    return NS.length > 0 ? { NS } : undefined;
  }
  if ('BS' in set && 'BS' in removed) {
    const BS = difference(set.BS, removed.BS, binaryText);
    return BS.length > 0 ? { BS } : undefined;
  }
  throw new TypeError('sets of different types');
}

const identity = (member: string): string => member;

function union<Member>(a: Member[], b: Member[], text: (member: Member) => string): Member[] {
  return [...a, ...difference(b, a, text)];
}

function difference<Member>(a: Member[], b: Member[], text: (member: Member) => string): Member[] {
  const excluded = new Set(b.map(text));
  return a.filter(member => !excluded.has(text(member)));
}
