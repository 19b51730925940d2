import { judge, type Target, type Verdict } from '../gates.ts';
import type { Backlog } from './backlog.ts';
import type { Capture } from './capture.ts';
import type { Freshness } from './freshness.ts';
import { costOf, type Iceberg } from './iceberg.ts';
import type { Insights } from './insights.ts';

// Parts that were not run are missing.
export type Results = {
  insights?: Insights;
  freshness?: Freshness;
  capture?: Capture;
  iceberg?: Iceberg;
  backlog?: Backlog;
};
export const partNames = ['insights', 'freshness', 'capture', 'iceberg', 'backlog'] as const;
export type Part = (typeof partNames)[number];

const visibleMs = 2000;

export function judgeResults(results: Results, parts: readonly Part[]): Verdict[] {
  const { insights, freshness, capture, iceberg, backlog } = results;
  const target = (
    part: Part,
    name: string,
    measured: number | undefined,
    bound: Target['bound'],
    limit: number,
    unit: Target['unit'],
    isRequired = true,
  ): Target => ({ name, measured, bound, limit, unit, required: isRequired && parts.includes(part) });
  return [
    target(
      'insights',
      'read units of the document’s scan, over those of an insight',
      insights && insights.scan.readUnits / insights.insight.readUnits,
      'at least',
      100,
      'times',
    ),
    target(
      'insights',
      'an insight, over one page of the document’s scan',
      insights && insights.measures.insight.p50Ms / insights.measures.page.p50Ms,
      'below',
      1,
      'times',
    ),
    target(
      'freshness',
      'a change until it is in bronze, p95',
      freshness?.bronze.p95Ms,
      'at most',
      visibleMs,
      'ms',
    ),
    target(
      'freshness',
      'a change until it is in an insight, p95',
      freshness?.insight.p95Ms,
      'at most',
      visibleMs,
      'ms',
    ),
    target(
      'capture',
      'behind the table while it changes 2,000 times a second, p95',
      capture?.lagP95Ms,
      'at most',
      visibleMs,
      'ms',
    ),
    target(
      'capture',
      'changes a second that were written meanwhile, of those that should be',
      capture && (capture.written / capture.seconds / capture.perSecond) * 100,
      'at least',
      95, // the last responses come when the time is over
      '%',
    ),
    target(
      'iceberg',
      'changes captured a second that tables of Iceberg cost',
      iceberg && costOf(iceberg),
      'below',
      15,
      '%',
    ),
    target(
      'backlog',
      'memory with a large backlog, over a small one',
      peakRatio(backlog),
      'at most',
      1.5, // it does not grow with the backlog, which is many times as large
      'times',
      process.platform === 'linux',
    ),
  ].map(judge);
}

const peakRatio = (backlog: Backlog | undefined): number | undefined =>
  backlog?.many.privateMb !== undefined && backlog.few.privateMb !== undefined
    ? backlog.many.privateMb / backlog.few.privateMb
    : undefined;
