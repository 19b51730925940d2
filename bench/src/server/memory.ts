import { readFileSync } from 'node:fs';

// The memory of a process. `residentMb` is everything, `peakMb` its maximum so far; `privateMb` leaves out the pages of
// shared files.
export type Memory = { residentMb: number; privateMb: number; peakMb: number };

// Undefined on other systems than Linux, and for a process that has ended.
export function memoryOf(pid: number): Memory | undefined {
  if (process.platform !== 'linux') return undefined;
  const status = textOf(pid, 'status');
  if (!status.includes('VmRSS:')) return undefined;
  const megabytes = (name: string) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+)`, 'm'))![1]) / 1024;
  return { residentMb: megabytes('VmRSS'), privateMb: megabytes('RssAnon'), peakMb: megabytes('VmHWM') };
}

// Pages of a file that several processes have mapped are counted once in `residentMb`; the peaks are added.
export function memoryOfAll(pids: readonly number[]): Memory | undefined {
  const memories = pids.map(memoryOf).filter(memory => memory !== undefined);
  if (memories.length === 0) return undefined;
  const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0);
  const files = new Map<string, number>();
  for (const pid of pids)
    for (const [file, megabytes] of filesOf(pid)) files.set(file, Math.max(megabytes, files.get(file) ?? 0));
  const privateMb = sum(memories.map(memory => memory.privateMb));
  return {
    residentMb: privateMb + sum(files.values()),
    privateMb,
    peakMb: sum(memories.map(memory => memory.peakMb)),
  };
}

const lookEveryMs = 250;

// The highest of the values that are read until `stop`.
export function watchPeak(read: () => number | undefined): { peak(): number | undefined; stop(): void } {
  let peak: number | undefined;
  const look = () => {
    const value = read();
    if (value !== undefined) peak = Math.max(peak ?? 0, value);
  };
  look();
  const timer = setInterval(look, lookEveryMs);
  return { peak: () => peak, stop: () => clearInterval(timer) };
}

// The files that a process has mapped, with how much of each is in memory and shared.
function filesOf(pid: number): Map<string, number> {
  const files = new Map<string, number>();
  let name: string | undefined;
  for (const line of textOf(pid, 'smaps').split('\n')) {
    const mapping = line.match(/^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)$/);
    if (mapping) name = mapping[1]!.startsWith('/') ? mapping[1]! : undefined;
    const kilobytes = line.match(/^(Rss|Anonymous):\s+(\d+) kB$/);
    if (!kilobytes || name === undefined) continue;
    const sign = kilobytes[1] === 'Rss' ? 1 : -1;
    files.set(name, (files.get(name) ?? 0) + (sign * Number(kilobytes[2])) / 1024);
  }
  return files;
}

function textOf(pid: number, file: 'status' | 'smaps'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
