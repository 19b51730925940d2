/**
 * Tagged values as on the wire, with binary already decoded. The engine uses this form everywhere; only its interfaces
 * convert (base64 over HTTP, plain JavaScript values in the client).
 */
export type AttributeValue =
  | { S: string }
  | { N: string }
  | { B: Uint8Array }
  | { BOOL: boolean }
  | { NULL: true }
  | { M: Item }
  | { L: AttributeValue[] }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: Uint8Array[] };

export type AttributeType = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'M' | 'L' | 'SS' | 'NS' | 'BS';
export type KeyType = 'S' | 'N' | 'B';
/** An item passed as plain values is measured and encoded in the same pass that checks it. */
export type Item = { [name: string]: AttributeValue; [encoded]?: Encoded };
export type Encoded = { size: number; bytes: Buffer };
export const encoded: unique symbol = Symbol('encoded');

// An object whose prototype chain is empty, so that an attribute called `__proto__` or `constructor` is an
// attribute like any other. A constructor, unlike Object.create(null), keeps V8's fast properties.
const Bag = function Bag() {} as unknown as { new (): Item; prototype: object };
Bag.prototype = Object.create(null);

export const newItem = (): Item => new Bag();

export function typeOf(value: AttributeValue): AttributeType {
  for (const type in value) return type as AttributeType;
  throw new TypeError('an attribute value without a type');
}
