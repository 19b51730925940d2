import type { Owners } from './owners.ts';

/** Owners of leases that a test declares dead. Created with `manualOwners`. */
export type ManualOwners = {
  // Each of them has leases of its own.
  as(name: string): Owners;
  // As if its process had been killed.
  end(name: string): void;
  // As if its reports did not arrive, or did again.
  doubt(name: string, isDoubted?: boolean): void;
};

/** For tests: processes on one store that end when the test calls `end`. */
export function manualOwners(): ManualOwners {
  const ended = new Set<string>();
  const doubted = new Set<string>();
  const listeners = new Set<() => void>();
  let last = 0;
  return {
    as: name => ({
      canDetect: true,
      next: () => `${++last}@${name}`,
      isGone: async owner => {
        const process = owner.slice(owner.lastIndexOf('@') + 1);
        return ended.has(process) || doubted.has(process);
      },
      aliveUntilMs: () => (doubted.has(name) ? 0 : Number.POSITIVE_INFINITY),
      onGone(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    }),
    end(name) {
      ended.add(name);
      for (const listener of listeners) listener();
    },
    doubt(name, isDoubted = true) {
      if (isDoubted) doubted.add(name);
      else doubted.delete(name);
      for (const listener of listeners) listener();
    },
  };
}
