import type { Ids } from './ids.ts';

/**
 * Names of those who hold leases. Where processes that share a store know each other, a name tells which process it
 * belongs to, and what a dead one held is taken over at once; elsewhere a lease has to run out.
 */
export type Owners = {
  // Whether it can be told at all that an owner is gone.
  readonly canTell: boolean;
  next(): string;
  // False also where it cannot be told.
  isGone(owner: string): Promise<boolean>;
  // Called when a process has gone. Returns how to stop that.
  onGone(listener: () => void): () => void;
};

/** Owners of leases that may or may not be alive: their leases have to expire. */
export const unknownOwners = (ids: Ids): Owners => ({
  canTell: false,
  next: () => ids.next('own'),
  isGone: async () => false,
  onGone: () => () => {},
});

/** What a store that several processes have open can say of them. */
export type Neighbours = {
  readonly id: string | undefined;
  isGone(id: string): Promise<boolean>;
  onGone(listener: (id: string) => void): () => void;
};

/** Owners of leases in a store whose processes know when one of them dies. */
export function storeOwners(ids: Ids, { id, isGone, onGone }: Neighbours): Owners {
  if (id === undefined) return unknownOwners(ids);
  return {
    canTell: true,
    next: () => `${ids.next('own')}@${id}`,
    async isGone(owner) {
      const at = owner.lastIndexOf('@');
      return at >= 0 && isGone(owner.slice(at + 1));
    },
    onGone: listener => onGone(() => listener()),
  };
}

/** Other processes on the same store. What they are sent is stored nowhere, and may be lost. */
export type Peers = {
  send(topic: string, body: unknown, to?: string): void; // to all, unless it says to whom
  onMessage(topic: string, listener: (body: unknown, from: string) => void): void;
  onJoined(listener: (id: string) => void): () => void;
  onGone(listener: (id: string) => void): () => void;
};

/**
 * For a worker that takes over what dead processes had leased: calls `release` once at its start, since one may have
 * died before that, and then after each death. `wake` ends the worker's wait.
 */
export function watchGone(owners: Owners, wake: () => void) {
  let mayHaveGone = owners.canTell;
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
