import { describe, expect, it } from 'vitest';
import { runHistories } from './oracle/run.ts';
import { sabotages } from './oracle/sabotages.ts';

const options = { length: 30, engine: 'embedded' } as const;

// Much longer than it takes on a quiet machine.
const timeout = 180_000;

// The same few each time, because planted faults rely on them to be noticed; STAK_ADVERSARY_SEED gives others. Random ones
// with STAK_LONG_TESTS=1, and many by `npm run oracle -- inbox`.
const isLong = process.env.STAK_LONG_TESTS !== undefined;
const given = Number(process.env.STAK_ADVERSARY_SEED);
const seedOr = (usual: number): { seed?: number } =>
  given > 0 ? { seed: given } : isLong ? {} : { seed: usual };
describe('the inbox, against plain lists', { timeout }, () => {
  it('shows and counts the same after every step of random histories', async () => {
    const { seed, checks, mismatch } = await runHistories({
      ...options,
      ...seedOr(1),
      histories: isLong ? 40 : 3,
    });
    expect(mismatch, `seed ${seed}`).toBeUndefined();
    expect(checks).toBeGreaterThan(isLong ? 400 : 0); // few histories may be short
  });

  it('does so on a store with transient failures of every kind', async () => {
    const { seed, mismatch } = await runHistories({
      length: 20,
      engine: 'adversary',
      ...seedOr(1),
      histories: isLong ? 15 : 2,
    });
    expect(mismatch, `seed ${seed}`).toBeUndefined();
  });

  it('does so on a second engine, over the AWS SDK', async () => {
    const { seed, mismatch } = await runHistories({
      length: isLong ? 15 : 9,
      engine: 'sdk',
      ...seedOr(1),
      histories: isLong ? 10 : 1,
    });
    expect(mismatch, `seed ${seed}`).toBeUndefined();
  });

  const address = process.env.DYNAMODB_ENDPOINT as `http${string}` | undefined;
  it.skipIf(!address)('does so on another DynamoDB (needs DYNAMODB_ENDPOINT)', async () => {
    const { seed, mismatch } = await runHistories({ length: 20, engine: address!, histories: 4 });
    expect(mismatch, `seed ${seed}`).toBeUndefined();
  });
});

// The seeds of first histories that show the fault at once: this is about the oracle, not about luck. Where there is
// none, or it has become another history, more of them follow.
const seeds: Record<string, number> = {
  'writes over what somebody else has written meanwhile': 7,
  'keeps no expiries': 7,
  'forgets when the next message expires': 7,
  'forgets what was marked as a whole': 5,
  'lets ranges go over what was marked after them': 2002,
  'forgets who is snoozed': 5,
  'forgets which messages to everyone were read out of order': 3,
  'forgets the archive of messages to everyone': 5,
  'does not announce redactions': 15,
  'lists no redaction of a message to everyone': 4,
  'stores no numbers of categories for users': 5,
};

describe('the oracle', { timeout }, () => {
  it.each(Object.entries(sabotages))('finds an inbox that %s', async (name, sabotage) => {
    const { mismatch } = await runHistories({
      ...options,
      histories: 300,
      seed: seeds[name] ?? 1,
      sabotage,
      endOnFailure: true,
    });
    expect(mismatch).toBeDefined();
  });
});
