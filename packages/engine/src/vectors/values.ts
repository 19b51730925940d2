import type { AttributeValue } from '../values/attribute-value.ts';
import { parseNumber } from '../values/number.ts';

// A vector is a list of numbers, each of which a float of 32 bits can hold, rounded. Indexes keep it as such floats.

/** The place and type of the first member that is no such number; undefined if all are. */
export function misfitIn(members: readonly AttributeValue[]): number | undefined {
  for (let i = 0; i < members.length; i++) {
    const member = members[i]!;
    if (!('N' in member) || !Number.isFinite(Math.fround(Number(member.N)))) return i;
  }
  return undefined;
}

/** Undefined if the value is no vector of that many dimensions. */
export function vectorOf(value: AttributeValue | undefined, dimensions: number): Float32Array | undefined {
  if (!value || !('L' in value) || value.L.length !== dimensions) return undefined;
  const vector = new Float32Array(dimensions);
  for (let i = 0; i < dimensions; i++) {
    const member = value.L[i]!;
    if (!('N' in member)) return undefined;
    vector[i] = Number(member.N);
    if (!Number.isFinite(vector[i])) return undefined;
  }
  return vector;
}

/** The same value as an index keeps it: the shortest decimals that name the floats. */
export const roundedVector = (value: AttributeValue): AttributeValue =>
  'L' in value
    ? { L: value.L.map(member => ('N' in member ? { N: floatText(Number(member.N)) } : member)) }
    : value;

const fewestDigits = 6; // which every float keeps
const mostDigits = 9; // which name each

function floatText(value: number): string {
  const float = Math.fround(value);
  for (let digits = fewestDigits; digits < mostDigits; digits++) {
    const text = float.toPrecision(digits);
    if (Math.fround(Number(text)) === float) return parseNumber(text);
  }
  return parseNumber(float.toPrecision(mostDigits));
}
