import { judge, type Target, type Verdict } from '../gates.ts';
import type { ServerMeasure } from '../server/rounds.ts';
import type { Cost } from './cost.ts';
import type { Reading, ReadingName } from './reading.ts';
import type { RequestName } from './requests.ts';
import type { Streaming } from './streaming.ts';

// Whatever part was not run is missing.
export type Results = {
  cost?: Cost;
  reading?: Reading;
  requests?: Record<RequestName, ServerMeasure>;
  streaming?: Streaming;
};
export const partNames = ['cost', 'reading', 'requests', 'streaming'] as const;
export type Part = (typeof partNames)[number];

export const percentOfConstant = (requests: Results['requests'], name: RequestName): number | undefined =>
  requests && (requests[name].opsPerSecond / requests.constant.opsPerSecond) * 100;

const timesAsLong = (reading: Results['reading'], name: ReadingName, than: ReadingName): number | undefined =>
  reading && reading.measures[name].p50Ms / reading.measures[than].p50Ms;

export function judgeResults(results: Results, parts: readonly Part[]): Verdict[] {
  const { cost, reading, requests, streaming } = results;
  const target = (
    part: Part,
    name: string,
    measured: number | undefined,
    bound: Target['bound'],
    limit: number,
    unit: Target['unit'],
  ): Target => ({ name, measured, bound, limit, unit, required: parts.includes(part) });
  const flat = 1.5; // more than rounds differ from each other, less than any growth with history
  return [
    target(
      'cost',
      'write units of a broadcast, to many users over few',
      cost && cost.broadcastToMany / cost.broadcastToFew,
      'at most',
      1,
      'times',
    ),
    target('cost', 'queries for a page of the feed', cost?.feed.queries, 'at most', 2, 'queries'),
    target(
      'reading',
      'feed of 30, over the two bare queries',
      timesAsLong(reading, 'feed, short', 'two queries'),
      'at most',
      3,
      'times',
    ),
    target(
      'reading',
      'counts, over a bare get',
      timesAsLong(reading, 'counts, short', 'a get'),
      'at most',
      4,
      'times',
    ),
    target(
      'reading',
      'feed with a long history, over a short one',
      timesAsLong(reading, 'feed, long', 'feed, short'),
      'at most',
      flat,
      'times',
    ),
    target(
      'reading',
      'counts with a long history, over a short one',
      timesAsLong(reading, 'counts, long', 'counts, short'),
      'at most',
      flat,
      'times',
    ),
    target(
      'requests',
      'feed over HTTP, requests a second, of the constant',
      percentOfConstant(requests, 'feed'),
      'at least',
      12,
      '%',
    ),
    target(
      'requests',
      'publish over HTTP, requests a second, of the constant',
      percentOfConstant(requests, 'publish'),
      'at least',
      20,
      '%',
    ),
    target('streaming', 'publish until it is on the event stream, p99', streaming?.p99Ms, 'below', 50, 'ms'),
  ].map(judge);
}
