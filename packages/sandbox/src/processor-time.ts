import { readFileSync } from 'node:fs';
import { tickMs } from './limits.ts';

// Milliseconds that a thread has run, as Linux counts them in /proc. Undefined elsewhere, and for a thread that has
// ended.
export function readProcessorMs(task: string | undefined): number | undefined {
  if (task === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/${task}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // a name may have spaces and brackets
    const ticks = Number(fields[11]) + Number(fields[12]); // utime and stime
    return Number.isNaN(ticks) ? undefined : ticks * tickMs;
  } catch {
    return undefined;
  }
}
