import { Readable } from 'node:stream';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { binary, item, text } from '../../test/model/values.ts';
import { deserialize } from '../validation/deserialize.ts';
import type { AttributeValue, Item } from './attribute-value.ts';
import { equalItems } from './compare.ts';
import { marshalItem, marshalValue, nativeNumber, unmarshalItem } from './marshal.ts';
import { parseNumber } from './number.ts';

// The AWS document client itself, with a service that answers what it was told.
function echo() {
  let sent: { Item: unknown } = { Item: {} };
  const handle = async (request: { body: Uint8Array }) => {
    sent = JSON.parse(Buffer.from(request.body).toString());
    const body = Readable.from([Buffer.from(JSON.stringify({ Attributes: sent.Item }))]);
    return { response: { statusCode: 200, headers: {}, body } };
  };
  const client = new DynamoDBClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'k', secretAccessKey: 's' },
    requestHandler: { handle } as never,
  });
  const document = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  return async (value: Record<string, unknown>) => {
    const { Attributes } = await document.send(new PutCommand({ TableName: 't', Item: value }));
    return { sent: (deserialize('PutItem', sent) as { Item: Item }).Item, answered: Attributes };
  };
}

const nativeNumberValue = fc.oneof(
  fc.integer(),
  fc
    .double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 })
    .filter(n => n === 0 || Math.abs(n) > 1e-129),
  fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }).filter(n => n > 2n ** 53n || n < -(2n ** 53n)),
);
// Not `constructor`: the SDK takes a map with that name for an instance of a class.
const name = fc.constantFrom('a', 'b', 'toString', 'é', '0');
const nativeValue = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    nativeNumberValue,
    fc.boolean(),
    fc.constant(null),
    binary,
    fc.uniqueArray(text, { minLength: 1, maxLength: 3 }).map(members => new Set(members)),
    fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 3 }).map(members => new Set(members)),
    fc.uniqueArray(binary, { minLength: 1, maxLength: 3, selector: String }).map(members => new Set(members)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, fc.oneof(tie('value'), fc.constant(undefined)), { maxKeys: 3 }),
  ),
})).value;

describe('marshalling', () => {
  it('agrees with the AWS document client, in both directions', async () => {
    const throughSdk = echo();
    await fc.assert(
      fc.asyncProperty(fc.dictionary(name, nativeValue, { maxKeys: 4 }), async native => {
        const { sent, answered } = await throughSdk(native);
        const ours = marshalItem(native);
        // The SDK leaves numbers as they print; the service makes them plain.
        expect(equalItems(ours, plain(sent))).toBe(true);
        expect(unmarshalItem(ours)).toEqual(answered);
      }),
      { numRuns: 200 },
    );
  });

  it('loses nothing but the digits a double lacks', () => {
    fc.assert(
      fc.property(item.filter(exactInDoubles), whole => {
        expect(equalItems(marshalItem(unmarshalItem(whole)), whole)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('returns ordinary objects, on which a hostile name is only a name', () => {
    const native = unmarshalItem(marshalItem(JSON.parse('{"__proto__":{"polluted":true},"constructor":1}')));
    expect(Object.getPrototypeOf(native)).toBe(Object.prototype);
    expect(Object.keys(native)).toEqual(['__proto__', 'constructor']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('returns integers that a double cannot hold as BigInt', () => {
    expect(nativeNumber('9007199254740991')).toBe(9007199254740991);
    expect(nativeNumber('9007199254740992')).toBe(9007199254740992n);
    expect(nativeNumber('-9007199254740993')).toBe(-9007199254740993n);
    expect(nativeNumber('0.1')).toBe(0.1);
    expect(nativeNumber(`1${'0'.repeat(40)}`)).toBe(10n ** 40n);
  });

  it('drops undefined values, and refuses unsupported ones', () => {
    expect(marshalItem({ a: undefined, b: 1 })).toEqual({ b: { N: '1' } });
    class Point {
      x = 1;
    }
    for (const value of [
      Number.NaN,
      Number.POSITIVE_INFINITY,
      2 ** 53,
      () => 1,
      Symbol('s'),
      new Point(),
      new Date(0),
    ]) {
      expect(() => marshalValue(value), String(value)).toThrow(
        expect.objectContaining({ name: 'ValidationException' }),
      );
    }
  });

  it('refuses a cycle instead of following it', () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    expect(() => marshalItem(cycle)).toThrow(/Nesting Levels/);
  });

  it('reads the part of a buffer that a view shows', () => {
    const whole = Uint8Array.from([1, 2, 3, 4]);
    const view = new DataView(whole.buffer, 1, 2);
    expect(marshalValue(view)).toEqual({ B: Uint8Array.from([2, 3]) });
    expect(marshalValue(whole.buffer.slice(2))).toEqual({ B: Uint8Array.from([3, 4]) });
  });
});

const plain = (whole: Item): Item =>
  Object.fromEntries(Object.entries(whole).map(([key, value]) => [key, plainValue(value)]));

function plainValue(value: AttributeValue): AttributeValue {
  if ('N' in value) return { N: parseNumber(value.N) };
  if ('L' in value) return { L: value.L.map(plainValue) };
  if ('M' in value) return { M: plain(value.M) };
  return value;
}

function exactInDoubles(whole: Item): boolean {
  return Object.keys(whole).every(key => isExact(whole[key]!));
}

function isExact(value: AttributeValue): boolean {
  if ('N' in value) return !value.N.includes('.') || String(Number(value.N)) === value.N;
  if ('NS' in value) return value.NS.every(member => isExact({ N: member }));
  if ('L' in value) return value.L.every(isExact);
  if ('M' in value) return exactInDoubles(value.M);
  return true;
}
