import { stolenMost } from './machine.ts';
import type { Found, Judged } from './servers-under-load.ts';

// docs/guides/run-several-servers.md promises these.
const heardP95Ms = 1_000;
const heardLeast = 500; // of fewer events, the slowest twentieth may be one pause of the machine
export const streamsMs = 10_000;
export const deliveriesMs = 15_000;
const excusedShare = 0.1; // of the kills; with more, the store is too slow to tell

export type Verdict = { broken: string[]; unjudged: string[] };

// Violations while the store itself is slow are excused, within limits. Delays while the host took the processors away
// cannot be judged, nor can few events. Nothing excuses data that is lost, or counted wrongly.
export function judge({ violations, heardMs, stolen, kills }: Found): Verdict {
  const late = (what: string, { seen, ...rest }: Judged<number>, mostMs: number): Judged<string[]> => ({
    ...rest,
    seen: seen > mostMs ? [`${what} after ${seen} ms, not ${mostMs}`] : [],
  });
  const restarts = ({ seen, ...rest }: Judged<readonly string[]>): Judged<string[]> => ({
    ...rest,
    seen: seen.map(one => `in a rolling restart, ${one}`),
  });
  const ofKills = kills.map(({ streams, delivery, failures }) => [
    late('streams of a killed server were taken over', streams, streamsMs),
    late('deliveries of a killed server were taken over', delivery, deliveriesMs),
    restarts(failures),
  ]);
  const isJudged = (one: Judged<string[]>) => one.stolen <= stolenMost;
  const excused = ofKills.filter(all =>
    all.some(one => one.seen.length > 0 && one.wasStoreSlow && isJudged(one)),
  ).length;
  const lateEvents =
    heardMs.p95 > heardP95Ms ? [`events were heard (p95) after ${heardMs.p95} ms, not ${heardP95Ms}`] : [];
  const isUnclear = stolen > stolenMost || heardMs.count < heardLeast;
  return {
    broken: [
      ...violations,
      ...ofKills.flat().flatMap(one => (one.wasStoreSlow || !isJudged(one) ? [] : one.seen)),
      ...(excused > kills.length * excusedShare
        ? [`promises were broken at ${excused} of ${kills.length} kills while the store was slow`]
        : []),
      ...(isUnclear ? [] : lateEvents),
    ],
    unjudged: [
      ...ofKills.flat().flatMap(one => (isJudged(one) ? [] : one.seen)),
      ...(isUnclear ? lateEvents : []),
    ],
  };
}
