import type { DistanceFunction } from '../storage/table.ts';

// How far a stored vector is from the one that is searched for. A distance is smaller for the nearer one, whatever the
// function; the score in an answer is the distance, or for DOT_PRODUCT its negative. Sums have 64 bits, and the result
// is rounded to 32, as DynamoDB's are, so that equal vectors have equal scores.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_SearchVectors.html

export type Distance = (stored: Float32Array) => number;

export function distanceFrom(wanted: Float32Array, by: DistanceFunction): Distance {
  switch (by) {
    case 'COSINE':
      return cosineFrom(wanted);
    case 'EUCLIDEAN':
      return stored => rounded(Math.sqrt(squaredDifference(wanted, stored)));
    case 'DOT_PRODUCT':
      return stored => 0 - rounded(dot(wanted, stored));
  }
}

export const scoreOf = (distance: number, by: DistanceFunction): number =>
  by === 'DOT_PRODUCT' ? 0 - distance : distance;

// From 0, the same direction, to 2, the opposite one. A vector of zeros has no direction, and counts as orthogonal.
function cosineFrom(wanted: Float32Array): Distance {
  const length = dot(wanted, wanted);
  return stored => {
    let product = 0;
    let square = 0;
    for (let i = 0; i < wanted.length; i++) {
      const value = stored[i]!;
      product += wanted[i]! * value;
      square += value * value;
    }
    // One root of both: of a square it is exact, so the distance of a vector to itself is 0.
    const lengths = Math.sqrt(length * square);
    return lengths === 0 ? 1 : rounded(Math.min(2, Math.max(0, 1 - product / lengths)));
  };
}

export function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

function squaredDifference(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = a[i]! - b[i]!;
    sum += difference * difference;
  }
  return sum;
}

// The product of large vectors may be more than 32 bits can hold.
function rounded(value: number): number {
  const float = Math.fround(value);
  return Number.isFinite(float) ? float : value;
}
