import { readdirSync, readFileSync } from 'node:fs';

// Reads what the kernel counts for processes, in /proc.

export type Usage = {
  processes: number;
  tickedCpuUs: number; // in steps of 10 ms for each process, with threads and children that have ended
  exactCpuUs: number; // to the nanosecond, without threads and processes that have ended
  writtenBytes: number; // what they caused to be written to disk, also through mapped files
};
export type UsageSince = { cpuUs: number; writtenBytes: number };

const tickUs = 10_000; // the kernel counts in hundredths of a second
const roundedTicks = 4; // four fields, each rounded down to a tick

export function readUsage(pids: readonly number[]): Usage {
  return {
    processes: pids.length,
    tickedCpuUs: sum(pids.map(cpuUsOf)),
    exactCpuUs: sum(pids.map(exactCpuUsOf)),
    writtenBytes: sum(pids.map(writtenBytesOf)),
  };
}

// The exact time, unless a thread or a process with a noticeable share has ended in between.
export function usageBetween(before: Usage, after: Usage): UsageSince {
  const tickedUs = after.tickedCpuUs - before.tickedCpuUs;
  const exactUs = after.exactCpuUs - before.exactCpuUs;
  const roundingUs = Math.max(before.processes, after.processes) * roundedTicks * tickUs;
  return {
    cpuUs: tickedUs - exactUs > roundingUs ? tickedUs : exactUs,
    writtenBytes: after.writtenBytes - before.writtenBytes,
  };
}

// Fields 14 to 17 of /proc/PID/stat: user and system time of the process and of its ended children.
export const cpuUsOf = (pid: number): number => sum((statOf(pid) ?? []).slice(11, 15).map(Number)) * tickUs;

// The first field of a thread's schedstat: nanoseconds on a processor.
function exactCpuUsOf(pid: number): number {
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  const nanoseconds = threads.map(thread =>
    Number(textOf(`/proc/${pid}/task/${thread}/schedstat`)?.split(' ')[0] ?? 0),
  );
  return sum(nanoseconds) / 1000;
}

// A page counts when it becomes dirty, by `write` or through a mapped file. The kernel adds what ended children wrote to
// their parent.
const writtenBytesOf = (pid: number): number =>
  Number(textOf(`/proc/${pid}/io`)?.match(/^write_bytes: (\d+)$/m)?.[1] ?? 0);

export function withDescendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined;
    if (stat) parents.set(Number(name), Number(stat[1]));
  }
  const pids = [pid];
  for (const pid of pids) for (const [child, parent] of parents) if (parent === pid) pids.push(child);
  return pids;
}

// The fields after the name, which may contain spaces and brackets. Undefined if the process has ended.
function statOf(pid: number): string[] | undefined {
  const text = textOf(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}

const textOf = (file: string): string | undefined => attempt(() => readFileSync(file, 'utf8'));

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined; // it has ended
  }
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
