import { setPriority } from 'node:os';

/**
 * The priority that `lowerPriority` sets gives a thread a thirtieth of the processor time of a serving thread on the same
 * core. With a third, a few such threads together had more of a core than the serving thread. A core that is free is theirs.
 */
export const backgroundPriority = 15;

/**
 * Lowers the priority of the calling thread, or of the process with this id, so that serving threads run first if
 * processor time is short. On systems other than Linux a priority belongs to whole processes, and nothing is changed.
 */
export function lowerPriority(pid = 0): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(pid, backgroundPriority);
  } catch {
    // a container may forbid it, or the process has ended
  }
}
