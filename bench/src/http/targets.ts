import { judge, type Target, type Verdict } from '../gates.ts';
import type { ServerMeasure } from '../server/rounds.ts';
import type { Starting } from '../server/starting.ts';
import type { RequestName } from './requests.ts';

// Parts that were not run are missing.
export type Results = {
  requests?: Record<RequestName, ServerMeasure>;
  starting?: Starting;
};
export const partNames = ['starting', 'requests'] as const;
export type Part = (typeof partNames)[number];

// As a percentage of the server's own constant, which does everything that every route does except authentication; or
// of the bare constant, which is the framework's own speed.
export const percentOf = (
  requests: Results['requests'],
  name: RequestName,
  constant: 'constant' | 'bare' = 'constant',
): number | undefined => requests && (requests[name].opsPerSecond / requests[constant].opsPerSecond) * 100;

// Judged by `GET /v1/whoami`: it returns the caller, so it does only what every authenticated request does. The other
// routes add what they read.
export function judgeResults({ requests, starting }: Results, parts: readonly Part[]): Verdict[] {
  const share = (what: string, name: RequestName, limit: number): Target => ({
    name: `GET by ${what}, requests a second, of the constant`,
    measured: percentOf(requests, name),
    bound: 'at least',
    limit,
    unit: '%',
    required: parts.includes('requests'),
  });
  const titles = { one: 'one worker', two: 'two workers' };
  const targets: Target[] = [
    share('API key', 'key, whoami', 60),
    share('session', 'session, whoami', 50),
    {
      name: 'stak start in an empty folder, until it is ready',
      measured: starting?.readyMs,
      bound: 'below',
      limit: 1500,
      unit: 'ms',
      required: parts.includes('starting'),
    },
    ...(['one', 'two'] as const).flatMap((workers): Target[] => [
      {
        name: `resident memory of an idle server with ${titles[workers]}`,
        measured: starting?.[workers].memory?.residentMb,
        bound: 'below',
        limit: { one: 150, two: 250 }[workers],
        unit: 'MB',
        required: parts.includes('starting') && process.platform === 'linux',
      },
      {
        name: `share of a core that an idle server with ${titles[workers]} takes`,
        measured: starting?.[workers].corePercent,
        bound: 'below',
        limit: 0.5,
        unit: 'of a core',
        required: parts.includes('starting') && process.platform === 'linux',
      },
    ]),
  ];
  return targets.map(judge);
}
