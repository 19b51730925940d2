// Samples of the totals since the server started. The chart shows how fast they grow.
export type Sample = { at: number; read: number; write: number };
export type Rate = { at: number; read: number; write: number };

const samplesKept = 61; // five minutes of them

export function addSample(known: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = known.at(-1);
  if (last && sample.at <= last.at) return known;
  // The counts restart with the server.
  if (last && (sample.read < last.read || sample.write < last.write)) return [sample];
  return [...known, sample].slice(-samplesKept);
}

// Units per second between consecutive samples.
export const ratesOf = (samples: readonly Sample[]): Rate[] =>
  samples.slice(1).map((sample, index) => {
    const before = samples[index]!;
    const seconds = (sample.at - before.at) / 1000;
    const rate = (now: number, then: number) => Math.round(((now - then) / seconds) * 10) / 10;
    return { at: sample.at, read: rate(sample.read, before.read), write: rate(sample.write, before.write) };
  });
