import { type AttributeValue, encoded, type Item } from './attribute-value.ts';

// The size DynamoDB bills and limits: names and values in UTF-8 bytes, numbers by their digits.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html

export function itemSize(item: Item): number {
  const known = item[encoded];
  if (known) return known.size;
  let size = 0;
  for (const name in item) size += byteLength(name) + valueSize(item[name]!);
  return size;
}

export function valueSize(value: AttributeValue): number {
  if ('S' in value) return byteLength(value.S);
  if ('N' in value) return numberSize(value.N);
  if ('B' in value) return value.B.byteLength;
  if ('BOOL' in value || 'NULL' in value) return 1;
  if ('M' in value) return 3 + itemSize(value.M) + Object.keys(value.M).length;
  if ('L' in value) return value.L.reduce((size, member) => size + 1 + valueSize(member), 3);
  if ('SS' in value) return value.SS.reduce((size, member) => size + byteLength(member), 0);
  if ('NS' in value) return value.NS.reduce((size, member) => size + numberSize(member), 0);
  return value.BS.reduce((size, member) => size + member.byteLength, 0);
}

// Short strings are counted here: crossing into the runtime costs more than the loop.
export function byteLength(text: string): number {
  if (text.length > 64) return Buffer.byteLength(text);
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return Buffer.byteLength(text);
  return text.length;
}

// Two digits share a byte, aligned at the decimal point; one byte more for the exponent, one for a minus sign.
export function numberSize(canonical: string): number {
  if (canonical === '0') return 1;
  let first = -1;
  let last = 0;
  let point = canonical.length;
  let negative = 0;
  for (let i = 0; i < canonical.length; i++) {
    const code = canonical.charCodeAt(i);
    if (code === 45) negative = 1;
    else if (code === 46) point = i;
    else if (code !== 48) {
      if (first < 0) first = i;
      last = i;
    }
  }
  const digits = last - first + (first < point && last > point ? 0 : 1);
  const exponent = first < point ? point - first - 1 : point - first;
  const shared = digits % 2 !== 0 || exponent % 2 !== 0 ? 0 : 1;
  return 1 + Math.ceil(digits / 2) + shared + negative;
}
