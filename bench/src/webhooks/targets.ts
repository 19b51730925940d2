import { judge, type Target, type Verdict } from '../gates.ts';
import { spread } from '../statistics.ts';
import type { Delivery } from './delivery.ts';
import type { GrowthRow } from './growth.ts';
import type { RequestName, Requests } from './requests.ts';
import type { Retries } from './retries.ts';
import type { Units } from './units.ts';

// Whatever part was not run is missing.
export type Results = {
  requests?: Requests;
  units?: Units;
  delivery?: Delivery;
  growth?: GrowthRow[];
  retries?: Retries;
};
export const partNames = ['requests', 'units', 'delivery', 'growth', 'retries'] as const;
export type Part = (typeof partNames)[number];

export const percentOfConstant = (requests: Results['requests'], name: RequestName): number | undefined =>
  requests && (requests[name].opsPerSecond / requests.constant.opsPerSecond) * 100;

export function judgeResults(results: Results, parts: readonly Part[]): Verdict[] {
  const { requests, delivery, growth, retries } = results;
  const of = (part: Part): Pick<Target, 'required'> => ({ required: parts.includes(part) });
  const targets: Target[] = [
    {
      name: 'durable ingest of 1 KB with what it owes, requests a second, of the constant',
      measured: percentOfConstant(requests, 'owing'),
      bound: 'at least',
      limit: 25,
      unit: '%',
      ...of('requests'),
    },
    {
      name: 'ingest with few and with many events stored, apart',
      measured: growth && spread(growth.map(({ measure }) => measure.opsPerSecond)),
      bound: 'below',
      limit: 1.5, // what the engine promises for its own growth
      unit: 'times',
      ...of('growth'),
    },
    {
      name: 'the longest time without an answer while the lake captures what is stored',
      measured: growth && Math.max(...growth.map(({ longestGapMs }) => longestGapMs)),
      bound: 'at most',
      limit: 100,
      unit: 'ms',
      ...of('growth'),
    },
    {
      name: 'ingest until the destination has it, over a direct POST, p50',
      measured: delivery && delivery.delivered.p50Ms / delivery.direct.p50Ms,
      bound: 'at most',
      limit: 4,
      unit: 'times',
      ...of('delivery'),
    },
    {
      name: 'ingest until the destination has it, over a direct POST, p99',
      measured: delivery && delivery.delivered.p99Ms / delivery.direct.p99Ms,
      bound: 'at most',
      limit: 10,
      unit: 'times',
      ...of('delivery'),
    },
    {
      name: 'to a fast destination beside 1,000 slow ones, over alone, p50',
      measured: delivery && delivery.besideSlow.p50Ms / delivery.alone.p50Ms,
      bound: 'at most',
      limit: 2, // they take processor time, but nobody waits for them
      unit: 'times',
      ...of('delivery'),
    },
    {
      name: 'ingest while all retries are due at once, p99',
      measured: retries?.ingest.p99Ms,
      bound: 'below',
      limit: 100,
      unit: 'ms',
      ...of('retries'),
    },
  ];
  return targets.map(judge);
}
