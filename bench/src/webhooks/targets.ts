import { judge, type Target, type Verdict } from '../gates.ts';
import { spread } from '../statistics.ts';
import type { Delivery } from './delivery.ts';
import type { GrowthRow } from './growth.ts';
import type { Machine } from './machine.ts';
import type { RequestName, Requests } from './requests.ts';
import type { Retries } from './retries.ts';
import type { Units } from './units.ts';

// Parts that were not run are missing.
export type Results = {
  requests?: Requests;
  units?: Units;
  delivery?: Delivery;
  growth?: GrowthRow[];
  retries?: Retries;
  machine?: Machine;
};
export const partNames = ['requests', 'units', 'delivery', 'growth', 'retries', 'machine'] as const;
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
      limit: 2, // they take processor time, but no request waits for them
      unit: 'times',
      ...of('delivery'),
    },
    {
      name: 'retries due at once that were made, of all',
      measured: retries && (retries.made / retries.retries) * 100,
      bound: 'at least',
      limit: 100,
      unit: '%',
      ...of('retries'),
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
  return [...targets, ...machineTargets(results, parts.includes('machine'))].map(judge);
}

// Judged with two workers, the default of `stak start` on two cores.
function machineTargets({ requests, machine }: Results, required: boolean): Target[] {
  const [one, two] = machine?.rows ?? [];
  const onLinux = required && process.platform === 'linux';
  const most = (name: string, measured: number | undefined, limit: number, unit: Target['unit']): Target => ({
    name,
    measured,
    bound: 'at most',
    limit,
    unit,
    required: unit === 'µs' || unit === 'MB' ? onLinux : required,
  });
  const least = (
    name: string,
    measured: number | undefined,
    limit: number,
    unit: Target['unit'],
  ): Target => ({
    name,
    measured,
    bound: 'at least',
    limit,
    unit,
    required,
  });
  return [
    most('processor time of ingest, no connection', requests?.alone.cpuUs, 180, 'µs'),
    least('delivered, two workers', two?.deliveredPerSecond, 2800, 'a second'),
    least(
      'delivered, two workers over one',
      one && two && two.deliveredPerSecond / one.deliveredPerSecond,
      1.4,
      'times',
    ),
    most('10,000 events, until the last has arrived', two?.throughMs, 4000, 'ms'),
    most('processor time of an event with its delivery, busy', two?.busyCpuUs, 600, 'µs'),
    most('processor time of an event with its delivery, 50 a second', two?.seldomCpuUs, 3000, 'µs'),
    most('until the destination has it, 200 a second, p95', two?.often.p95Ms, 6, 'ms'),
    most('until the destination has it, 200 a second, p99', two?.often.p99Ms, 20, 'ms'),
    most('memory without mapped files while busy', two?.privateMb, 300, 'MB'),
    most('from the start after kill -9 until the last acknowledged event', two?.afterKillMs, 5000, 'ms'),
  ];
}
