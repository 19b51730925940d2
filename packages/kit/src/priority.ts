import { setPriority } from 'node:os';

const lower = 5; // about a third of the time of what serves, where both want the same core

/**
 * Lets those who serve go first, where there is less processor time than work: the calling thread yields to them, or
 * the process with this id. On other systems than Linux a priority belongs to whole processes, and nothing is changed.
 */
export function lowerPriority(pid = 0): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(pid, lower);
  } catch {
    // a container may forbid it, or the process has ended
  }
}
