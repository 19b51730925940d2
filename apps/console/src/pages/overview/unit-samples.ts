// Totals since the server started, as they were seen; what is shown is how fast they grow.
export type Sample = { at: number; read: number; write: number };
export type Rate = { at: number; read: number; write: number };

const samplesKept = 61; // five minutes of them

export function addSample(known: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = known.at(-1);
  if (last && sample.at <= last.at) return known;
  // A server that was started again counts from nothing.
  if (last && (sample.read < last.read || sample.write < last.write)) return [sample];
  return [...known, sample].slice(-samplesKept);
}

// Units each second, between one look and the next.
export const ratesOf = (samples: readonly Sample[]): Rate[] =>
  samples.slice(1).map((sample, index) => {
    const before = samples[index]!;
    const seconds = (sample.at - before.at) / 1000;
    const rate = (now: number, then: number) => Math.round(((now - then) / seconds) * 10) / 10;
    return { at: sample.at, read: rate(sample.read, before.read), write: rate(sample.write, before.write) };
  });
