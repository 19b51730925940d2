import { Text } from '@mantine/core';
import { formatClock, formatLag } from '../../text/format.ts';

export type Fresh = { as_of: string; lag_ms: number; caught_up: boolean };

// Several answers are only as fresh as the oldest one.
export const leastFresh = (answers: readonly Fresh[]): Fresh | undefined =>
  answers.toSorted((a, b) => Date.parse(a.as_of) - Date.parse(b.as_of))[0];

// How recent the lake's numbers are.
export function Freshness({ of }: { of: Fresh }) {
  const state = of.caught_up ? 'up to date' : `${formatLag(of.lag_ms)} behind`;
  return (
    <Text size="sm" c="dimmed" className="stak-figures">
      As of <time dateTime={of.as_of}>{formatClock(of.as_of)}</time>, {state}
    </Text>
  );
}
