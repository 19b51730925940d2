import { validationError } from '../errors.ts';
import { nestingDepth } from '../limits.ts';
import { type AttributeValue, type Item, newItem } from './attribute-value.ts';
import { parseNumber } from './number.ts';

// Plain JavaScript values, as the AWS document client takes and returns them.
type NativeValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Uint8Array
  | Set<string>
  | Set<number | bigint>
  | Set<Uint8Array>
  | NativeValue[]
  | { [name: string]: NativeValue };

/** An item with plain JavaScript values. */
// biome-ignore lint/suspicious/noExplicitAny: callers bring their own item types, as with the AWS document client.
export type NativeItem = Record<string, any>;

export function marshalItem(item: NativeItem, depth = 0): Item {
  if (item === null || typeof item !== 'object') throw unsupported(item);
  const out = newItem();
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value !== undefined) out[name] = marshalValue(value, depth);
  }
  return out;
}

export function marshalValue(value: unknown, depth = 0): AttributeValue {
  switch (typeof value) {
    case 'string':
      return { S: value };
    case 'number':
      return { N: numberText(value) };
    case 'bigint':
      return { N: parseNumber(value.toString()) };
    case 'boolean':
      return { BOOL: value };
    case 'object':
      return value === null ? { NULL: true } : marshalObject(value, depth);
    default:
      throw unsupported(value);
  }
}

function marshalObject(value: object, depth: number): AttributeValue {
  // One level past the limit is enough for validation to refuse it, and a cycle cannot exhaust the stack.
  if (depth > nestingDepth) throw validationError(tooDeep);
  if (Array.isArray(value)) {
    return {
      L: value.map(member => (member === undefined ? { NULL: true } : marshalValue(member, depth + 1))),
    };
  }
  if (value instanceof Uint8Array) return { B: value };
  if (value instanceof Set) return marshalSet(value);
  if (ArrayBuffer.isView(value))
    return { B: new Uint8Array(value.buffer, value.byteOffset, value.byteLength) };
  if (value instanceof ArrayBuffer) return { B: new Uint8Array(value) };
  if (value instanceof Map) return { M: marshalItem(Object.fromEntries(value), depth + 1) };
  const prototype = Object.getPrototypeOf(value);
  // The SDK's NumberValue wrapper holds the decimal text of a number that a double cannot.
  if (
    'value' in value &&
    typeof value.value === 'string' &&
    prototype?.constructor?.name.endsWith('NumberValue')
  ) {
    return { N: parseNumber(value.value) };
  }
  if (prototype !== Object.prototype && prototype !== null && prototype?.constructor !== undefined) {
    throw unsupported(value);
  }
  return { M: marshalItem(value as NativeItem, depth + 1) };
}

const tooDeep =
  'Nesting Levels have exceeded supported limits: Attributes should have at most 32 levels of nesting';

function marshalSet(set: Set<unknown>): AttributeValue {
  const members = [...set];
  const first = members[0];
  if (members.every(member => typeof member === 'string')) {
    if (members.length === 0)
      throw validationError('One or more parameter values were invalid: An string set  may not be empty');
    return { SS: members as string[] };
  }
  if (typeof first === 'number' || typeof first === 'bigint') {
    return { NS: members.map(member => (marshalValue(member) as { N: string }).N ?? fail(member)) };
  }
  if (members.every(member => member instanceof Uint8Array)) return { BS: members as Uint8Array[] };
  throw unsupported(set);
}

function fail(value: unknown): never {
  throw unsupported(value);
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) {
    throw validationError(`The parameter cannot be converted to a numeric value: ${value}`);
  }
  if (Object.is(value, -0)) return '0';
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    throw validationError(`Number ${value} is greater than the largest safe integer: use a BigInt`);
  }
  const text = String(value);
  return text.includes('e') ? parseNumber(text) : text;
}

const unsupported = (value: unknown) =>
  validationError(`Unsupported type passed: ${describe(value)}. Store it as a string, number, list or map`);

const describe = (value: unknown) =>
  typeof value === 'object' && value !== null ? (value.constructor?.name ?? 'object') : typeof value;

export function unmarshalItem(item: Item): NativeItem {
  const out: NativeItem = {};
  for (const name in item) setOwn(out, name, unmarshalValue(item[name]!));
  return out;
}

// Callers get ordinary objects, on which assigning to `__proto__` would change the prototype instead.
export function setOwn(target: NativeItem, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value;
  else Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true });
}

function unmarshalValue(value: AttributeValue): NativeValue {
  if ('S' in value) return value.S;
  if ('N' in value) return nativeNumber(value.N);
  if ('BOOL' in value) return value.BOOL;
  if ('M' in value) return unmarshalItem(value.M);
  if ('L' in value) return value.L.map(unmarshalValue);
  if ('NULL' in value) return null;
  if ('B' in value) return plainBytes(value.B);
  if ('SS' in value) return new Set(value.SS);
  if ('NS' in value) return new Set(value.NS.map(nativeNumber));
  return new Set(value.BS.map(plainBytes));
}

// Callers get the type that the SDK returns, never Node's subclass of it.
export const plainBytes = (bytes: Uint8Array): Uint8Array =>
  bytes instanceof Buffer ? Uint8Array.from(bytes) : bytes;

// Like the document client without wrapNumbers: integers beyond a double's exact range become BigInt, decimals are
// rounded to the nearest double.
export function nativeNumber(canonical: string): number | bigint {
  const number = Number(canonical);
  if (Number.isSafeInteger(number) || Math.abs(number) <= Number.MAX_SAFE_INTEGER) return number;
  return canonical.includes('.') ? number : BigInt(canonical);
}
