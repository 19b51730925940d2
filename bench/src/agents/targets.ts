import { judge, type Target, type Verdict } from '../gates.ts';
import type { Chats } from './chats.ts';
import type { RequestName, Requests } from './requests.ts';
import type { Saving } from './saving.ts';
import type { Turns } from './turns.ts';

// Parts that were not run are missing.
export type Results = { turns?: Turns; saving?: Saving; requests?: Requests; chats?: Chats };
export const partNames = ['turns', 'saving', 'requests', 'chats'] as const;
export type Part = (typeof partNames)[number];

export const percentOfConstant = (requests: Results['requests'], name: RequestName): number | undefined =>
  requests && (requests[name].opsPerSecond / requests.constant.opsPerSecond) * 100;

export function judgeResults(results: Results, parts: readonly Part[]): Verdict[] {
  const { turns, saving, requests, chats } = results;
  const of = (part: Part): Pick<Target, 'required'> => ({ required: parts.includes(part) });
  const targets: Target[] = [
    {
      name: 'a turn that a rule answers, over the engine’s calls that it makes',
      measured: turns && turns.measures.turn.p50Ms / turns.measures.engine.p50Ms,
      bound: 'at most',
      limit: 4,
      unit: 'times',
      ...of('turns'),
    },
    {
      name: 'write units of a turn, in a long conversation over a short one',
      measured: saving && saving.ours.many.writeUnits / saving.ours.few.writeUnits,
      bound: 'at most',
      limit: 1,
      unit: 'times',
      ...of('saving'),
    },
    {
      name: 'write units of a turn that a rule answers, with a window below 1 KB',
      measured: saving?.ours.first.writeUnits,
      bound: 'at most',
      limit: 12,
      unit: 'units',
      ...of('saving'),
    },
    {
      name: 'a turn that a rule answers, over HTTP: processor time of the server',
      measured: requests && requests.turn.cpuUs / 1000,
      bound: 'at most',
      limit: 1,
      unit: 'ms',
      ...of('requests'),
    },
    {
      name: 'a turn over HTTP, requests a second, of the constant',
      measured: percentOfConstant(requests, 'turn'),
      bound: 'at least',
      limit: 10,
      unit: '%',
      ...of('requests'),
    },
    {
      name: 'missed by open chats',
      measured: chats?.missed,
      bound: 'at most',
      limit: 0,
      unit: 'events',
      ...of('chats'),
    },
  ];
  return targets.map(judge);
}
