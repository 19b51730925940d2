// Rounds are summed up by their median: one round disturbed by a neighbour does not move it.

export function percentile(sorted: ArrayLike<number>, fraction: number): number {
  if (sorted.length === 0) return Number.NaN;
  const rank = Math.ceil(fraction * sorted.length) - 1;
  return sorted[Math.min(Math.max(rank, 0), sorted.length - 1)]!;
}

export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

// How far apart the smallest and the largest are, as a factor.
export function spread(values: readonly number[]): number {
  return values.length === 0 ? Number.NaN : Math.max(...values) / Math.min(...values);
}
