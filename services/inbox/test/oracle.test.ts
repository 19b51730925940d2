import { describe, expect, it } from 'vitest';
import { runHistories } from './oracle/run.ts';
import { sabotages } from './oracle/sabotages.ts';

const options = { length: 30, engine: 'embedded' } as const;

// Much longer than it takes on a quiet machine.
const timeout = 180_000;

describe('the inbox, against plain lists', { timeout }, () => {
  it('shows and counts the same after every step of random histories', async () => {
    const { seed, checks, mismatch } = await runHistories({ ...options, histories: 20 });
    expect(mismatch, `seed ${seed}`).toBeUndefined();
    expect(checks).toBeGreaterThan(1000);
  });

  it('does so on a second engine, over the AWS SDK', async () => {
    const { seed, mismatch } = await runHistories({ length: 15, engine: 'sdk', histories: 3 });
    expect(mismatch, `seed ${seed}`).toBeUndefined();
  });

  const address = process.env.DYNAMODB_ENDPOINT as `http${string}` | undefined;
  it.skipIf(!address)('does so on another DynamoDB (needs DYNAMODB_ENDPOINT)', async () => {
    const { seed, mismatch } = await runHistories({ length: 20, engine: address!, histories: 4 });
    expect(mismatch, `seed ${seed}`).toBeUndefined();
  });
});

describe('the oracle', { timeout }, () => {
  // The seed is fixed: this is about the oracle, not about luck.
  it.each(Object.entries(sabotages))('finds an inbox that %s', async (_, sabotage) => {
    const { mismatch } = await runHistories({
      ...options,
      histories: 300,
      seed: 10,
      sabotage,
      endOnFailure: true,
    });
    expect(mismatch).toBeDefined();
  });
});
