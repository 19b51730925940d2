// The targets of a bench. A target is met, missed, or could not be measured; only the caller knows whether the last is
// a failure.

type Unit = 'times' | '%' | 'of a core' | 'a second' | 'MB' | 'µs' | 'ms' | 'queries' | 'events' | 'units';

export type Target = {
  name: string;
  measured: number | undefined;
  bound: 'at least' | 'at most' | 'below';
  limit: number;
  unit: Unit;
  // Must be measurable on the platform the targets were set for.
  required: boolean;
};

export type Verdict = Target & { state: 'met' | 'missed' | 'not measured' };

export function judge(target: Target): Verdict {
  const { measured, bound, limit } = target;
  if (measured === undefined) return { ...target, state: 'not measured' };
  // Written so that NaN, which compares as false, is a miss.
  const met =
    bound === 'at least' ? measured >= limit : bound === 'at most' ? measured <= limit : measured < limit;
  return { ...target, state: met ? 'met' : 'missed' };
}

export const failures = (verdicts: readonly Verdict[]): Verdict[] =>
  verdicts.filter(({ state, required }) => state === 'missed' || (state === 'not measured' && required));

export function describeVerdict({ name, measured, bound, limit, unit, state }: Verdict): string {
  const value = written[unit];
  const found = measured === undefined ? '' : ` (${value(measured)})`;
  return `${state.padEnd(12)}  ${name}: ${bound} ${value(limit)}${found}`;
}

const round = (value: number): string => (value >= 10 ? value.toFixed(0) : value.toFixed(2));

const written: Record<Unit, (value: number) => string> = {
  times: value => `${round(value)}x`,
  '%': value => `${value.toFixed(0)} %`,
  'of a core': value => `${value.toFixed(2)} %`,
  'a second': value => `${value.toFixed(0)} a second`,
  MB: value => `${value.toFixed(0)} MB`,
  µs: value => `${round(value)} µs`,
  ms: value => `${round(value)} ms`,
  queries: value => `${value.toFixed(0)} queries`,
  events: value => `${value.toFixed(0)} events`,
  units: value => `${round(value)} units`,
};
