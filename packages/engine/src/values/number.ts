import { ValueError } from '../errors.ts';
import { numberDigits } from '../limits.ts';

// DynamoDB numbers are decimals of up to 38 significant digits. Inside the engine a number is canonical text:
// plain notation, no leading or trailing zeros, no exponent, `0` for every zero. Equal numbers are equal text.
//
// A decimal taken apart is 0.DIGITS × 10^point, with no zeros at either end of DIGITS.
export type Decimal = { negative: boolean; digits: string; point: number };

const maxPoint = 126; // 9.99…E+125
const minPoint = -129; // 1E-130
const zero: Decimal = { negative: false, digits: '', point: 0 };

const overflow = 'Number overflow. Attempting to store a number with magnitude larger than supported range';
const underflow =
  'Number underflow. Attempting to store a number with magnitude smaller than supported range';
const tooManyDigits = `Attempting to store more than ${numberDigits} significant digits in a Number`;

export function parseNumber(text: string): string {
  if (isPlainInteger(text) || isPlainDecimal(text)) return text;
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (!match || (!match[2] && !match[3])) throw notNumeric(text);
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  if (exponent.length > longExponent && BigInt.asIntN(64, BigInt(exponent)) !== BigInt(exponent))
    throw notNumeric(text);
  return formatDecimal(trim(sign === '-', whole + fraction, whole.length + Number(exponent)));
}

const longExponent = 18; // characters that are less than 64 bits

function notNumeric(text: string): ValueError {
  const message = 'The parameter cannot be converted to a numeric value';
  return new ValueError(text ? `${message}: ${text}` : message, `${message}: ${text}`);
}

// The common cases need no parsing: up to 15 digits, no leading zero, no sign.
function isPlainInteger(text: string): boolean {
  const start = text.charCodeAt(0) === 45 ? 1 : 0;
  const length = text.length - start;
  if (length < 1 || length > 15) return false;
  const first = text.charCodeAt(start);
  if (first === 48) return length === 1 && start === 0;
  return areDigits(text, start, text.length);
}

// And as many with a point, of which vectors have hundreds: no zero at the end, and at the beginning one at most.
function isPlainDecimal(text: string): boolean {
  const start = text.charCodeAt(0) === 45 ? 1 : 0;
  const end = text.length;
  const point = text.indexOf('.');
  if (point <= start || end - start > 16) return false;
  if (text.charCodeAt(start) === 48 && point > start + 1) return false;
  return text.charCodeAt(end - 1) > 48 && areDigits(text, start, point) && areDigits(text, point + 1, end);
}

function areDigits(text: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

function trim(negative: boolean, digits: string, point: number): Decimal {
  let start = 0;
  while (start < digits.length && digits.charCodeAt(start) === 48) start++;
  if (start === digits.length) return zero;
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 48) end--;
  return { negative, digits: digits.slice(start, end), point: point - start };
}

function formatDecimal({ negative, digits, point }: Decimal): string {
  if (digits === '') return '0';
  if (digits.length > numberDigits) throw new ValueError(tooManyDigits);
  if (point > maxPoint) throw new ValueError(overflow);
  if (point < minPoint) throw new ValueError(underflow);
  const sign = negative ? '-' : '';
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits + '0'.repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

// Takes canonical text only.
export function toDecimal(canonical: string): Decimal {
  const negative = canonical.charCodeAt(0) === 45;
  const start = negative ? 1 : 0;
  const dot = canonical.indexOf('.');
  if (dot < 0) return trim(negative, canonical.slice(start), canonical.length - start);
  return trim(negative, canonical.slice(start, dot) + canonical.slice(dot + 1), dot - start);
}

export function compareNumbers(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length <= 15 && b.length <= 15) return Number(a) - Number(b);
  const x = toDecimal(a);
  const y = toDecimal(b);
  if (x.negative !== y.negative) return x.negative ? -1 : 1;
  const magnitude = compareMagnitude(x, y);
  return x.negative ? -magnitude : magnitude;
}

function compareMagnitude(x: Decimal, y: Decimal): number {
  if (x.digits === '' || y.digits === '') return x.digits === '' ? -1 : 1;
  if (x.point !== y.point) return x.point - y.point;
  return x.digits < y.digits ? -1 : x.digits > y.digits ? 1 : 0;
}

export const addNumbers = (a: string, b: string): string => combine(a, b, 1);
export const subtractNumbers = (a: string, b: string): string => combine(a, b, -1);

function combine(a: string, b: string, sign: 1 | -1): string {
  if (isPlainInteger(a) && isPlainInteger(b)) return String(Number(a) + sign * Number(b));
  const x = toDecimal(a);
  const y = toDecimal(b);
  // Both become integers in units of the smaller last digit.
  const unit = Math.min(x.point - x.digits.length, y.point - y.digits.length);
  const sum = scaled(x, unit) + BigInt(sign) * scaled(y, unit);
  const digits = (sum < 0n ? -sum : sum).toString();
  return formatDecimal(trim(sum < 0n, digits, digits.length + unit));
}

function scaled({ negative, digits, point }: Decimal, unit: number): bigint {
  if (digits === '') return 0n;
  const magnitude = BigInt(digits) * 10n ** BigInt(point - digits.length - unit);
  return negative ? -magnitude : magnitude;
}
