import { readFileSync } from 'node:fs';

// What a process holds. `residentMb` is everything, `peakMb` the most that it ever was; `privateMb` leaves out the
// pages of files that processes share.
export type Memory = { residentMb: number; privateMb: number; peakMb: number };

// Undefined on other systems than Linux, and of a process that has ended.
export function memoryOf(pid: number): Memory | undefined {
  if (process.platform !== 'linux') return undefined;
  const status = statusOf(pid);
  if (!status.includes('VmRSS:')) return undefined;
  const megabytes = (name: string) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+)`, 'm'))![1]) / 1024;
  return { residentMb: megabytes('VmRSS'), privateMb: megabytes('RssAnon'), peakMb: megabytes('VmHWM') };
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
