import type { Random } from '@stak/kit';
import { z } from 'zod';
import * as limits from '../limits.ts';

// When a failed delivery is tried again.

export const retryConfigSchema = z.strictObject({
  delaysS: z
    .array(
      z
        .int()
        .min(1)
        .max(limits.retryDelayMostMs / 1000),
    )
    .max(limits.attempts - 1)
    .optional()
    .describe(
      'Seconds before the second attempt, the third, and so on. An empty list means a single attempt',
    ),
  maxAttempts: z.int().min(1).max(limits.attempts).optional().describe('How many attempts are made at most.'),
});
export type RetryConfig = z.infer<typeof retryConfigSchema>;

// The delay before the next attempt, after this many; undefined if there is none.
export function retryDelayMs(config: RetryConfig, attempts: number, random: Random): number | undefined {
  const delaysMs = config.delaysS ? [0, ...config.delaysS.map(s => s * 1000)] : limits.retryDelaysMs;
  const most = Math.min(config.maxAttempts ?? limits.attempts, delaysMs.length);
  if (attempts >= most) return undefined;
  return Math.round(delaysMs[attempts]! * (1 + limits.retryJitter * random()));
}

// A destination may ask for a longer delay, up to a limit, but not for a shorter one.
export function politeDelayMs(delayMs: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs === undefined) return delayMs;
  return Math.max(delayMs, Math.min(retryAfterMs, limits.retryAfterMostMs));
}
