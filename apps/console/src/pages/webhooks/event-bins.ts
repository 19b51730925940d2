export type Bin = { fromMs: number; toMs: number; count: number; failed: number };
type Moment = { receivedAt: number; status: string };

const secondMs = 1_000;
const minuteMs = 60_000;
const hourMs = 3_600_000;
const steps = [
  secondMs,
  5 * secondMs,
  15 * secondMs,
  minuteMs,
  5 * minuteMs,
  15 * minuteMs,
  hourMs,
  6 * hourMs,
  24 * hourMs,
  7 * 24 * hourMs,
];
export const binsMost = 60;

/** The events by the shortest span of time that gives few enough columns, oldest first, with the empty ones. */
export function binsOf(events: readonly Moment[]): Bin[] {
  if (events.length === 0) return [];
  let first = Number.POSITIVE_INFINITY;
  let last = 0;
  for (const { receivedAt } of events) {
    first = Math.min(first, receivedAt);
    last = Math.max(last, receivedAt);
  }
  const startOf = (ms: number, step: number) => Math.floor(ms / step) * step;
  const countOf = (step: number) => (startOf(last, step) - startOf(first, step)) / step + 1;
  const step =
    steps.find(one => countOf(one) <= binsMost) ??
    Math.ceil((last - first) / (binsMost - 1) / hourMs) * hourMs;
  const start = startOf(first, step);
  const bins = Array.from({ length: countOf(step) }, (_, at) => ({
    fromMs: start + at * step,
    toMs: start + (at + 1) * step,
    count: 0,
    failed: 0,
  }));
  for (const { receivedAt, status } of events) {
    const bin = bins[Math.floor((receivedAt - start) / step)]!;
    bin.count += 1;
    if (status === 'failed' || status === 'rejected' || status === 'partial') bin.failed += 1;
  }
  return bins;
}

const stepNames: readonly (readonly [ms: number, one: string, many: string])[] = [
  [24 * hourMs, 'day', 'days'],
  [hourMs, 'hour', 'hours'],
  [minuteMs, 'minute', 'minutes'],
  [secondMs, 'second', 'seconds'],
];

/** "minute", "15 minutes": what one column covers. */
export function spanOf({ fromMs, toMs }: Bin): string {
  const ms = toMs - fromMs;
  const [unit, one, many] = stepNames.find(([unitMs]) => ms % unitMs === 0) ?? stepNames.at(-1)!;
  return ms === unit ? one : `${ms / unit} ${many}`;
}
