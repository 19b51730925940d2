import type { Ids } from './ids.ts';

/**
 * Names of the holders of leases. If the processes of a store know each other, a name identifies its process, and
 * leases of a dead process are taken over at once; otherwise a lease has to expire.
 */
export type Owners = {
  // Whether this store can detect that an owner is gone.
  readonly canDetect: boolean;
  next(): string;
  // Returns false if that is not known.
  isGone(owner: string): Promise<boolean>;
  // Called when a process has ended. Returns a function that stops it.
  onGone(listener: () => void): () => void;
  // From when on others may take this process for gone: until its next report, it does nothing that it has leased.
  aliveUntilMs?(): number;
  // The position of this process among those that read a list: each list has an order of its own. Processes may
  // disagree for some seconds after one of them came or went.
  rankOf?(list: string): number;
};

/** Owners of leases that may or may not be alive: their leases have to expire. */
export const unknownOwners = (ids: Ids): Owners => ({
  canDetect: false,
  next: () => ids.next('own'),
  isGone: async () => false,
  onGone: () => () => {},
});

/** Lets a store with several processes find out about them. */
export type Neighbours = {
  readonly id: string | undefined;
  isGone(id: string): Promise<boolean>;
  onGone(listener: (id: string) => void): () => void;
  aliveUntilMs?(): number;
  rankOf?(list: string): number;
};

/** Owners of leases in a store whose processes know when one of them dies. */
export function storeOwners(ids: Ids, { id, isGone, onGone, aliveUntilMs, rankOf }: Neighbours): Owners {
  if (id === undefined) return unknownOwners(ids);
  return {
    canDetect: true,
    next: () => `${ids.next('own')}@${id}`,
    async isGone(owner) {
      const at = owner.lastIndexOf('@');
      return at >= 0 && isGone(owner.slice(at + 1));
    },
    onGone: listener => onGone(() => listener()),
    ...(aliveUntilMs && { aliveUntilMs }),
    ...(rankOf && { rankOf }),
  };
}

/** Other processes on the same store. Messages to them are stored nowhere, and may be lost. */
export type Peers = {
  send(topic: string, body: unknown, to?: string): void; // to all, unless a receiver is given
  onMessage(topic: string, listener: (body: unknown, from: string) => void): void;
  onJoined(listener: (id: string) => void): () => void;
  onGone(listener: (id: string) => void): () => void;
};

/**
 * For a worker that takes over the leases of dead processes: calls `release` once at its start, since a process may
 * have died before, and then after each death. `wake` ends the worker's wait.
 */
export function watchGone(owners: Owners, wake: () => void) {
  let mayHaveGone = owners.canDetect;
  const stop = owners.onGone(() => {
    mayHaveGone = true;
    wake();
  });
  return {
    stop,
    async check(release: () => Promise<unknown>): Promise<void> {
      if (!mayHaveGone) return;
      mayHaveGone = false;
      await release();
    },
  };
}

const followsMost = 15;

/** How many times longer than the first process one of that rank waits between two looks at a list. */
export const waitsOfRank = (rank: number): number => Math.min(followsMost, 1 + 4 * rank);

/**
 * How long this process waits until it looks again at a list that all of them read, if it was empty. One process looks
 * as often as `ms` says. The others look less often: they only find what the first one does not get to.
 */
export const sharedPollMs = ({ rankOf }: Owners, list: string, ms: number): number =>
  ms * waitsOfRank(rankOf?.(list) ?? 0);
