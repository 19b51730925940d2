import type { Owners } from './owners.ts';

/** Owners of leases that a test declares dead. Created with `manualOwners`. */
export type ManualOwners = {
  // Each of them has leases of its own.
  as(name: string): Owners;
  // As if its process had been killed.
  end(name: string): void;
};

/** For tests: processes on one store that end when the test calls `end`. */
export function manualOwners(): ManualOwners {
  const ended = new Set<string>();
  const listeners = new Set<() => void>();
  let last = 0;
  return {
    as: name => ({
      canDetect: true,
      next: () => `${++last}@${name}`,
      isGone: async owner => ended.has(owner.slice(owner.lastIndexOf('@') + 1)),
      onGone(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    }),
    end(name) {
      ended.add(name);
      for (const listener of listeners) listener();
    },
  };
}
