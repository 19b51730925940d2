import { judge, type Verdict } from '../gates.ts';
import { median } from '../statistics.ts';
import type { Shipping } from './shipping.ts';
import type { Snapshots } from './snapshots.ts';

// Parts that were not run are missing.
export type Results = { shipping?: Shipping; snapshot?: Snapshots };
export const partNames = ['shipping', 'snapshot'] as const;
export type Part = (typeof partNames)[number];

export const judgeResults = ({ shipping, snapshot }: Results, parts: readonly Part[]): Verdict[] =>
  [
    {
      name: 'puts a second that shipping costs',
      measured: shipping && costOf(shipping),
      bound: 'below' as const,
      limit: 10,
      unit: '%' as const,
      required: parts.includes('shipping'),
    },
    {
      name: 'p99 of puts during a snapshot, over that without',
      measured: snapshot && median(snapshot.p99Ratios),
      bound: 'at most' as const,
      limit: 2,
      unit: 'times' as const,
      required: parts.includes('snapshot'),
    },
  ].map(judge);

// The median of the rounds' ratios: other load on the machine slows both halves of a round.
export const costOf = ({ measures: { alone, shipped } }: Shipping): number =>
  (1 - median(shipped!.rounds.map((rate, turn) => rate / alone!.rounds[turn]!))) * 100;
