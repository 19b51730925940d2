import { setPriority } from 'node:os';

const lower = 5; // about a third of the processor time of a serving thread on the same core

/**
 * Lowers the priority of the calling thread, or of the process with this id, so that serving threads run first if
 * processor time is short. On systems other than Linux a priority belongs to whole processes, and nothing is changed.
 */
export function lowerPriority(pid = 0): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(pid, lower);
  } catch {
    // a container may forbid it, or the process has ended
  }
}
