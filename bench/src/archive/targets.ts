import { judge, type Verdict } from '../gates.ts';
import type { Move } from './move.ts';

const mostMb = 300;

export const judgeMove = (move: Move | undefined): Verdict[] =>
  (['export', 'import'] as const)
    .map(direction => ({
      name: `memory of an ${direction} of a million items`,
      measured: move?.[direction].peakMb,
      bound: 'below' as const,
      limit: mostMb,
      unit: 'MB' as const,
      required: process.platform === 'linux',
    }))
    .map(judge);
