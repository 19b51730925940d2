import { judge, type Target, type Verdict } from '../gates.ts';
import type { ServerMeasure } from '../server/rounds.ts';
import type { Starting } from '../server/starting.ts';
import type { RequestName } from './requests.ts';

// Whatever part was not run is missing.
export type Results = {
  requests?: Record<RequestName, ServerMeasure>;
  starting?: Starting;
};
export const partNames = ['starting', 'requests'] as const;
export type Part = (typeof partNames)[number];

// Of the constant that the server itself answers, with all that holds for every route but who is calling; or of the
// bare one, which is the framework's own speed.
export const percentOf = (
  requests: Results['requests'],
  name: RequestName,
  constant: 'constant' | 'bare' = 'constant',
): number | undefined => requests && (requests[name].opsPerSecond / requests[constant].opsPerSecond) * 100;

// `GET /v1/whoami` is what judges: it answers who the token stands for, so all it does is what every authenticated
// request does. The other routes add what they read.
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
