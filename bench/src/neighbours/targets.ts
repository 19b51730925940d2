import { judge, type Target, type Verdict } from '../gates.ts';
import { type Latencies, type RequestName, requestNames } from './neighbour.ts';

export type Results = {
  quiet: Latencies;
  attacked: Latencies;
  events: number;
  lost: number;
  answered: Readonly<Record<string, number>>; // number of responses to each attack
};

export const requestTitles: Record<RequestName, string> = {
  ingest: 'ingest, while delivering',
  feed: 'feed, 30 messages',
  turn: 'a turn that a rule answers',
};

export const slower = ({ quiet, attacked }: Results, name: RequestName): number =>
  attacked[name].p99Ms / quiet[name].p99Ms;

export function judgeResults(results: Results): Verdict[] {
  const targets: Target[] = [
    ...requestNames.map(
      (name): Target => ({
        name: `${requestTitles[name]}, p99 beside an account that attacks, over the quiet one`,
        measured: slower(results, name),
        bound: 'at most',
        limit: 3,
        unit: 'times',
        required: true,
      }),
    ),
    {
      name: 'events of the neighbour that did not arrive',
      measured: results.lost,
      bound: 'at most',
      limit: 0,
      unit: 'events',
      required: true,
    },
  ];
  return targets.map(judge);
}
