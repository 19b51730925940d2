import type { Random } from './random.ts';

/** The first delay of a retry and the longest one, in milliseconds. */
export type Backoff = { firstMs: number; mostMs: number };

/**
 * Returns how long to wait after a number of failures. The delay doubles up to a limit. It is entirely random (`full`)
 * or half random (`half`), so callers that failed together do not retry together.
 *
 *     await clock.sleep(backoffMs(failures, { firstMs: 5, mostMs: 250 }, random));
 */
export function backoffMs(
  failures: number,
  { firstMs, mostMs }: Backoff,
  random: Random,
  jitter: 'full' | 'half' = 'full',
): number {
  const fullMs = doubledMs(failures, { firstMs, mostMs });
  return Math.round(jitter === 'full' ? fullMs * random() : fullMs / 2 + (fullMs / 2) * random());
}

/** The same delay without randomness, for a wait that no other caller shares. */
export const doubledMs = (failures: number, { firstMs, mostMs }: Backoff): number =>
  Math.min(mostMs, firstMs * 2 ** Math.max(0, failures - 1));
