import { describe, expect, it } from 'vitest';
import { runDifferential } from './campaign.ts';
import { dynoxidePath } from './dynoxide.ts';

describe.skipIf(!dynoxidePath)('the engine beside dynoxide (needs the @dynoxide/linux-x64 binary)', () => {
  // The seed is fixed, because an unknown bug in dynoxide must not fail a change here. To look
  // for more, leave it out and ask for more runs.
  it('gives the same results for random requests, except for dynoxide’s known bugs', {
    timeout: 120_000,
  }, async () => {
    const tally = await runDifferential({
      binary: dynoxidePath!,
      runs: process.env.STAK_LONG_TESTS ? 50 : 15,
      requests: 40,
      seed: 20_261_115,
    });
    // The comparison is worth something only while many requests do something.
    expect(tally.requests).toBeGreaterThan(300);
    expect(tally.accepted / tally.requests).toBeGreaterThan(0.4);
  });
});
