import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { number, scientific } from '../../test/model/values.ts';
import { addNumbers, compareNumbers, parseNumber, subtractNumbers, toDecimal } from './number.ts';

// The oracle: every DynamoDB number is an integer of 10^-170 or so.
const scale = 170;

function exact(text: string): bigint {
  const [, sign, whole = '', fraction = '', exponent = '0'] = /^([+-]?)(\d*)\.?(\d*)(?:[eE](.*))?$/.exec(
    text,
  )!;
  const shift = scale - fraction.length + Number(exponent);
  const magnitude =
    shift >= 0
      ? BigInt(whole + fraction) * 10n ** BigInt(shift)
      : BigInt(whole + fraction) / 10n ** BigInt(-shift);
  return sign === '-' ? -magnitude : magnitude;
}

const significant = (value: bigint): number => {
  const digits = String(value).replace(/^-/, '').replace(/0+$/, '');
  return digits.length;
};
const limit = 10n ** BigInt(126 + scale);
const smallest = 10n ** BigInt(scale - 130);

const errorOf = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`;
  }
  return 'no error';
};

const overflow =
  'ValidationException: Number overflow. Attempting to store a number with magnitude larger than supported range';
const underflow =
  'ValidationException: Number underflow. Attempting to store a number with magnitude smaller than supported range';
const digits38 = 'ValidationException: Attempting to store more than 38 significant digits in a Number';

describe('parseNumber', () => {
  it('normalises equal numbers to one text', () => {
    const notations: Record<string, string[]> = {
      '0': ['0', '-0', '+0', '0.0', '.0', '0.', '000', '0e5', '-0E-500', '0.000e999'],
      '1': ['1', '+1', '01', '1.0', '1e0', '10E-1', '0.1e1', '0001.000', '.1e+1', '1.'],
      '-12.5': ['-12.5', '-12.50', '-1.25e1', '-125E-1', '-0012.5', '-.125e2'],
      '1000': ['1000', '1e3', '1E+3', '1000.000', '0.1e4'],
      '0.001': ['0.001', '.001', '1e-3', '0.00100', '10e-4'],
    };
    for (const [canonical, texts] of Object.entries(notations)) {
      for (const text of texts) expect(parseNumber(text), text).toBe(canonical);
    }
  });

  it('keeps the value of every number in range', () => {
    fc.assert(
      fc.property(scientific, text => {
        const canonical = parseNumber(text);
        expect(exact(canonical)).toBe(exact(text));
        expect(canonical).toMatch(/^(0|-?(0|[1-9]\d*)(\.\d*[1-9])?)$/);
        expect(parseNumber(canonical)).toBe(canonical);
      }),
      { numRuns: 500 },
    );
  });

  it('refuses what is not a number', () => {
    for (const text of [
      '',
      ' 1',
      '1 ',
      'abc',
      '1e',
      'e5',
      '.',
      '-',
      '+-1',
      '0x10',
      'NaN',
      'Infinity',
      '1_000',
      '１',
      '1,5',
      '--1',
      '1e1.5',
    ]) {
      const message = `The parameter cannot be converted to a numeric value${text ? `: ${text}` : ''}`;
      expect(
        errorOf(() => parseNumber(text)),
        text,
      ).toBe(`ValidationException: ${message}`);
    }
  });

  it('stops at the limits of DynamoDB with its messages', () => {
    const nines = '9'.repeat(38);
    expect(parseNumber(`${nines}E88`)).toBe(nines + '0'.repeat(88));
    expect(parseNumber(`-${nines}E88`)).toBe(`-${nines}${'0'.repeat(88)}`);
    expect(parseNumber('1E-130')).toBe(`0.${'0'.repeat(129)}1`);
    expect(parseNumber('1E125')).toBe(`1${'0'.repeat(125)}`);
    expect(errorOf(() => parseNumber('1E126'))).toBe(overflow);
    expect(errorOf(() => parseNumber('-1E126'))).toBe(overflow);
    expect(errorOf(() => parseNumber('1E999999999'))).toBe(overflow);
    expect(errorOf(() => parseNumber('9.99E-131'))).toBe(underflow);
    expect(errorOf(() => parseNumber('-1E-999999999'))).toBe(underflow);
    expect(errorOf(() => parseNumber('1'.repeat(39)))).toBe(digits38);
    expect(errorOf(() => parseNumber(`0.${'1'.repeat(39)}`))).toBe(digits38);
    expect(parseNumber(`${'1'.repeat(38)}0`)).toBe(`${'1'.repeat(38)}0`);
  });

  it('refuses an absurd exponent at once', () => {
    for (const exponent of ['9'.repeat(50), `-${'9'.repeat(50)}`]) {
      expect(errorOf(() => parseNumber(`1E${exponent}`))).toMatch(/^ValidationException: /);
    }
  });
});

describe('arithmetic', () => {
  it('compares numbers by value', () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        const [x, y] = [exact(a), exact(b)];
        expect(Math.sign(compareNumbers(a, b))).toBe(x < y ? -1 : x > y ? 1 : 0);
      }),
      { numRuns: 1000 },
    );
  });

  it('adds and subtracts exactly, or refuses', () => {
    const oracle = (value: bigint): string => {
      if (value === 0n) return 'ok';
      if (significant(value) > 38) return digits38;
      const magnitude = value < 0n ? -value : value;
      return magnitude >= limit ? overflow : magnitude < smallest ? underflow : 'ok';
    };
    const agrees = (value: bigint, action: () => string) => {
      const expected = oracle(value);
      if (expected !== 'ok') return expect(errorOf(action)).toBe(expected);
      const result = action();
      expect(exact(result)).toBe(value);
      expect(parseNumber(result)).toBe(result);
    };
    const close = fc.tuple(scientific, fc.integer({ min: -9, max: 9 })).map(([text, digit]) => {
      const { negative, digits, point } = toDecimal(parseNumber(text));
      const other = `${digits.slice(0, -1)}${Math.abs(digit)}`;
      return [parseNumber(text), parseNumber(`${negative ? '-' : ''}0.${other}E${Math.max(-128, point)}`)];
    });
    fc.assert(
      fc.property(fc.oneof(fc.tuple(number, number), close), pair => {
        const [a, b] = pair as [string, string];
        agrees(exact(a) + exact(b), () => addNumbers(a, b));
        agrees(exact(a) - exact(b), () => subtractNumbers(a, b));
      }),
      { numRuns: 2000 },
    );
  });
});
