import { type AttributeValue, typeOf } from './attribute-value.ts';
import { compareNumbers } from './number.ts';

type Tagged = Record<string, unknown>;

// DynamoDB orders strings by their UTF-8 bytes. UTF-16 code units agree with that except where a surrogate
// pair meets a code unit above the surrogates.
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return byCodePoint(x) - byCodePoint(y);
  }
  return a.length - b.length;
}

// Moves the surrogates above every other code unit, where their code points belong.
function byCodePoint(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

export const compareBytes = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b);

// Both values have the same key type; other types have no order.
export function compareScalars(a: AttributeValue, b: AttributeValue): number {
  if ('S' in a && 'S' in b) return compareStrings(a.S, b.S);
  if ('N' in a && 'N' in b) return compareNumbers(a.N, b.N);
  if ('B' in a && 'B' in b) return compareBytes(a.B, b.B);
  throw new TypeError('values of these types have no order');
}

export function equalValues(a: AttributeValue, b: AttributeValue): boolean {
  if (a === b) return true;
  const type = typeOf(a);
  const x = (a as Tagged)[type];
  const y = (b as Tagged)[type];
  if (y === undefined) return false;
  switch (type) {
    case 'B':
      return compareBytes(x as Uint8Array, y as Uint8Array) === 0;
    case 'SS':
    case 'NS':
      return equalSets(x as string[], y as string[]);
    case 'BS':
      return equalSets((x as Uint8Array[]).map(binaryText), (y as Uint8Array[]).map(binaryText));
    case 'L':
      return equalLists(x as AttributeValue[], y as AttributeValue[]);
    case 'M':
      return equalItems(x as Record<string, AttributeValue>, y as Record<string, AttributeValue>);
    default:
      return x === y;
  }
}

export const binaryText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

function equalSets(a: string[], b: string[]): boolean {
  if (a.length !== b.length) return false;
  const members = new Set(b);
  return a.every(member => members.has(member));
}

function equalLists(a: AttributeValue[], b: AttributeValue[]): boolean {
  return a.length === b.length && a.every((value, i) => equalValues(value, b[i]!));
}

export function equalItems(a: Record<string, AttributeValue>, b: Record<string, AttributeValue>): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every(name => {
    const other = b[name];
    return other !== undefined && equalValues(a[name]!, other);
  });
}
