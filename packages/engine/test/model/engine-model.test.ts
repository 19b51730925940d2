import { describe, it } from 'vitest';
import { runModel } from './campaign.ts';

describe('the engine against a model of one table', () => {
  // A longer look: `await runModel({ runs: 2000, steps: 120 })`.
  it(
    'agrees on items, indexes, TTL, the change log and every count after each step',
    { timeout: 120_000 },
    () => runModel({ runs: process.env.STAK_LONG_TESTS ? 30 : 10, steps: 40 }),
  );
});
