import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCampaign } from './rounds.ts';

// The short version of `npm run test:crash`.
it('loses nothing that was acknowledged when it is killed, at any moment', {
  timeout: 120_000,
}, async () => {
  const root = await mkdtemp(join(tmpdir(), 'stak-crash-'));
  const seed = Date.now() % 1_000_000;
  const lines: string[] = [];
  const log = (line: string) => void lines.push(line);
  const short = { seed, messages: 800, log };
  const result = await runCampaign({ ...short, root: join(root, 'one'), rounds: 3 });
  expect(result.violations, [`seed ${seed}`, ...lines].join('\n')).toEqual([]);
  const several = await runCampaign({ ...short, root: join(root, 'several'), rounds: 1, processes: 2 });
  expect(several.violations, [`seed ${seed}`, ...lines].join('\n')).toEqual([]);
  await rm(root, { recursive: true });
});
