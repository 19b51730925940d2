import fc from 'fast-check';
import { type AttributeValue, type Item, type KeyType, newItem } from '../../src/values/attribute-value.ts';
import { parseNumber } from '../../src/values/number.ts';

// Random values with the corners in reach: NULs, neighbours of the surrogates, the ends of the number range.

const unit = fc.oneof(
  fc.constantFrom('\0', '\u0001', 'a', 'b', '\u007f', 'é', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);
export const text = fc.array(unit, { maxLength: 6 }).map(units => units.join(''));
const keyText = fc.array(unit, { minLength: 1, maxLength: 6 }).map(units => units.join(''));

const nonZero = fc.constantFrom(...'123456789');
// Digits without zeros at either end; 38 of them are as likely as one.
const digits = fc
  .tuple(
    nonZero,
    fc
      .oneof(fc.constant(0), fc.nat(36))
      .chain(length =>
        fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length }),
      ),
    fc.option(nonZero, { nil: '' }),
  )
  .map(([first, middle, last]) => (last ? first + middle + last : first));

// Where the decimal point goes: 0.DIGITS × 10^point.
const point = fc.oneof(fc.integer({ min: -129, max: 126 }), fc.integer({ min: -3, max: 5 }));

export const scientific = fc
  .tuple(fc.constantFrom('', '-'), digits, point)
  .map(([sign, mantissa, exponent]) => `${sign}0.${mantissa}E${exponent}`);

export const number = fc.oneof(
  { arbitrary: scientific.map(parseNumber), weight: 3 },
  { arbitrary: fc.integer({ min: -300, max: 300 }).map(String), weight: 2 },
  fc.constantFrom('0', '9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740992'),
);

export const binary = fc.oneof(
  fc.uint8Array({ maxLength: 6 }),
  fc.array(fc.constantFrom(0, 1, 254, 255), { maxLength: 4 }).map(bytes => Uint8Array.from(bytes)),
);

export const keyValue = (type: KeyType): fc.Arbitrary<AttributeValue> =>
  type === 'S'
    ? fc.record({ S: keyText })
    : type === 'N'
      ? fc.record({ N: number })
      : fc.record({ B: binary.filter(bytes => bytes.length > 0) });

// Names that are something else to JavaScript, or to the way items are stored.
export const attributeName = fc.oneof(
  { arbitrary: fc.constantFrom('a', 'b', 'c', 'name', '0', '17'), weight: 3 },
  {
    arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', 'toJSON', 'hasOwnProperty'),
    weight: 1,
  },
  { arbitrary: fc.constantFrom('\u0001', '\u0001M', '\u0001N', '\u0001SS', '\u0001\u0001', '\0'), weight: 1 },
  { arbitrary: text, weight: 1 },
);

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

export const bagOf = (entries: readonly (readonly [string, AttributeValue])[]): Item => {
  const bag = newItem();
  for (const [name, value] of entries) bag[name] = value;
  return bag;
};

export const attributeValue: fc.Arbitrary<AttributeValue> = fc.letrec<{ value: AttributeValue }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.record({ S: text }),
    fc.record({ N: number }),
    fc.record({ B: binary }),
    fc.record({ BOOL: fc.boolean() }),
    fc.constant({ NULL: true } as const),
    fc.record({ SS: fc.uniqueArray(text, { minLength: 1, maxLength: 3 }) }),
    fc.record({ NS: fc.uniqueArray(number, { minLength: 1, maxLength: 3 }) }),
    fc.record({ BS: fc.uniqueArray(binary, { minLength: 1, maxLength: 3, selector: hex }) }),
    fc.record({ L: fc.array(tie('value'), { maxLength: 3 }) }),
    fc.record({ M: fc.array(fc.tuple(attributeName, tie('value')), { maxLength: 3 }).map(bagOf) }),
  ),
})).value;

export const item: fc.Arbitrary<Item> = fc
  .array(fc.tuple(attributeName, attributeValue), { maxLength: 6 })
  .map(bagOf);
