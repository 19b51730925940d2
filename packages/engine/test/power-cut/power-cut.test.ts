import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCampaign } from './rounds.ts';

// The short version of `npm run test:power-cut`.
it('loses nothing that was acknowledged when the power fails, at any moment', {
  timeout: 120_000,
}, async () => {
  const root = await mkdtemp(join(tmpdir(), 'stak-power-cut-'));
  const seed = Date.now() % 1_000_000;
  const short = { root, seed, states: 25, statesPerCut: 5, cutsPerRound: 4, log() {} };
  const { states, violations } = await runCampaign(short);
  expect(violations, `seed ${seed}`).toEqual([]);
  expect(states).toBe(25);
  await rm(root, { recursive: true });
});
