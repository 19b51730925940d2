import { readFileSync } from 'node:fs';

// How much of the processors the host has taken away, from /proc/stat: no server can keep a promise about time with
// processors that it does not get.

export type MachineWatch = {
  // From 0 to 1, of the time of all processors between two moments. Zero where the system does not say.
  stolen(sinceMs: number, untilMs: number): number;
  describe(sinceMs: number): string;
  close(): void;
};

/** The share of stolen time above which a promise about time says nothing about the servers. */
export const stolenMost = 0.2;

const sampleMs = 500;

type Sample = { atMs: number; stolen: number; all: number };

export function watchMachine(): MachineWatch {
  const samples: Sample[] = [];
  const look = () => {
    const found = readTimes();
    if (found) samples.push({ atMs: Date.now(), ...found });
  };
  look();
  const timer = setInterval(look, sampleMs).unref();

  function stolen(sinceMs: number, untilMs: number): number {
    const first = samples.findLast(({ atMs }) => atMs <= sinceMs) ?? samples[0];
    const last = samples.find(({ atMs }) => atMs >= untilMs) ?? samples.at(-1);
    if (!first || !last || last.all === first.all) return 0;
    return (last.stolen - first.stolen) / (last.all - first.all);
  }

  return {
    stolen,
    describe(sinceMs) {
      const share = stolen(sinceMs, Date.now());
      return share > 0.05 ? `; the host took ${Math.round(share * 100)} % of the processors` : '';
    },
    close: () => clearInterval(timer),
  };
}

// `cpu  user nice system idle iowait irq softirq steal guest guest_nice`; guests are part of user and nice.
function readTimes(): { stolen: number; all: number } | undefined {
  try {
    const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
    const times = line.trim().split(/\s+/).slice(1, 9).map(Number);
    return { stolen: times[7] ?? 0, all: times.reduce((sum, time) => sum + time, 0) };
  } catch {
    return undefined;
  }
}
