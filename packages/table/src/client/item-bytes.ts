import type { Attributes } from './client.ts';

/**
 * The size of an item as DynamoDB bills and limits it: names and values in UTF-8 bytes, numbers by their digits.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
 */
export function itemBytes(item: Attributes): number {
  let bytes = 0;
  for (const name in item) bytes += Buffer.byteLength(name) + valueBytes(item[name]);
  return bytes;
}

function valueBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return Buffer.byteLength(value);
    case 'number':
      return numberBytes(value.toExponential());
    case 'bigint':
      return numberBytes(exponential(value));
  }
  if (value instanceof Uint8Array) return value.byteLength;
  if (value instanceof Set) return sum(value);
  if (Array.isArray(value)) return 3 + value.length + sum(value);
  if (typeof value === 'object' && value !== null) {
    const map = value as Attributes;
    return 3 + Object.keys(map).length + itemBytes(map);
  }
  return 1; // a boolean or null
}

function sum(values: Iterable<unknown>): number {
  let bytes = 0;
  for (const value of values) bytes += valueBytes(value);
  return bytes;
}

// `-1.25e+3`: two digits share a byte, aligned at the decimal point; a byte more for the exponent, one for a minus sign.
function numberBytes(text: string): number {
  const [mantissa = '', exponent = '0'] = text.split('e');
  const digits = mantissa.replace(/[-.]/g, '').length;
  if (digits === 1 && mantissa.endsWith('0')) return 1;
  const shared = digits % 2 === 0 && Number(exponent) % 2 === 0 ? 1 : 0;
  return 1 + Math.ceil(digits / 2) + shared + (mantissa.startsWith('-') ? 1 : 0);
}

function exponential(value: bigint): string {
  const text = String(value);
  const sign = text.startsWith('-') ? '-' : '';
  const digits = text.slice(sign.length);
  const significant = digits.replace(/0+$/, '') || '0';
  return `${sign}${significant[0]}.${significant.slice(1)}e${digits.length - 1}`;
}
