import type { Found, Judged } from './servers-under-load.ts';

// docs/guides/run-several-servers.md promises these.
const heardP95Ms = 1_000;
export const streamsMs = 10_000;
const deliveriesMs = 15_000;
const excusedShare = 0.1; // of the kills; with more, the store is too slow to tell

// What is broken while the store itself is slow is excused, within limits.
export function judge({ violations, heardMs, kills }: Found): string[] {
  const late = (what: string, { seen, wasStoreSlow }: Judged<number>, mostMs: number): Judged<string[]> => ({
    seen: seen > mostMs ? [`${what} after ${seen} ms, not ${mostMs}`] : [],
    wasStoreSlow,
  });
  const restarts = ({ seen, wasStoreSlow }: Judged<readonly string[]>): Judged<string[]> => ({
    seen: seen.map(one => `in a rolling restart, ${one}`),
    wasStoreSlow,
  });
  const ofKills = kills.map(({ streams, delivery, failures }) => [
    late('streams of a killed server were taken over', streams, streamsMs),
    late('deliveries of a killed server were taken over', delivery, deliveriesMs),
    restarts(failures),
  ]);
  const excused = ofKills.filter(all => all.some(one => one.seen.length > 0 && one.wasStoreSlow)).length;
  return [
    ...violations,
    ...ofKills.flat().flatMap(one => (one.wasStoreSlow ? [] : one.seen)),
    ...(excused > kills.length * excusedShare
      ? [`promises were broken at ${excused} of ${kills.length} kills while the store was slow`]
      : []),
    ...(heardMs.p95 > heardP95Ms
      ? [`events were heard (p95) after ${heardMs.p95} ms, not ${heardP95Ms}`]
      : []),
  ];
}
