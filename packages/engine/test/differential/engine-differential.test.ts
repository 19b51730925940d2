import { describe, expect, it } from 'vitest';
import { runDifferential } from './campaign.ts';
import { dynoxidePath } from './dynoxide.ts';

describe.skipIf(!dynoxidePath)('the engine beside dynoxide (needs the @dynoxide/linux-x64 binary)', () => {
  // A longer look: more `runs`; a failure again: its `seed`.
  it('answers random requests alike, dynoxide’s known faults aside', { timeout: 120_000 }, async () => {
    const tally = await runDifferential({ binary: dynoxidePath!, runs: 60, requests: 40 });
    // The comparison is worth something only while most requests do something.
    expect(tally.requests).toBeGreaterThan(1000);
    expect(tally.accepted / tally.requests).toBeGreaterThan(0.5);
  });
});
