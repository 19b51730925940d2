import type { Found } from './servers-under-load.ts';

// docs/guides/run-several-servers.md promises these.
const heardP95Ms = 1_000;
const streamsMs = 6_000;
const deliveriesMs = 15_000;
const unjudgedShare = 0.1; // with more, the store is too slow to tell

export function judge({
  violations,
  heardMs,
  streamsMs: streams,
  deliveriesMs: deliveries,
  kills,
  unjudged,
}: Found): string[] {
  const late = (what: string, times: readonly number[], mostMs: number) =>
    times.filter(ms => ms > mostMs).map(ms => `${what} after ${ms} ms, not ${mostMs}`);
  return [
    ...violations,
    ...(unjudged > kills * unjudgedShare
      ? [`the store was too slow to judge ${unjudged} of ${kills} kills`]
      : []),
    ...late('events were heard (p95)', [heardMs.p95], heardP95Ms),
    ...late('streams of a killed server were taken over', streams, streamsMs),
    ...late('deliveries of a killed server were taken over', deliveries, deliveriesMs),
  ];
}
