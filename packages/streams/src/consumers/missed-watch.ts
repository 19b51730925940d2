import { type Clock, createTimedCache, type Logger } from '@stak/kit';
import type { ItemOf, Store } from '@stak/table';
import { lettersFreshMs } from '../limits.ts';
import { allMissed, missed } from '../work/state-table.ts';

/** Changes that a consumer has lost, because its stream removed them before they were read. */
export type MissedChanges = ItemOf<typeof missed>;

/** Says which consumers have lost changes. Made with `createMissedWatch`. */
export type MissedWatch = {
  read(): Promise<readonly MissedChanges[]>;
  // Called when this process has lost changes: the last result is out of date.
  note(): void;
  // Called by an operator who has repaired what follows from it.
  forget(consumer: string): Promise<void>;
};

/** Tells operators which consumers have lost changes for good, in any process, until one of them says `forget`. */
export function createMissedWatch({
  store,
  clock,
  log,
}: {
  store: Store;
  clock: Clock;
  log: Logger;
}): MissedWatch {
  const latest = createTimedCache<readonly MissedChanges[]>({ clock, most: 1, forMs: lettersFreshMs });
  const announced = new Set<string>();

  async function look(): Promise<readonly MissedChanges[]> {
    const missed: MissedChanges[] = [];
    for await (const change of store.all(allMissed, {})) missed.push(change);
    for (const { consumer } of missed) {
      if (announced.has(consumer)) continue;
      announced.add(consumer);
      log.warn(
        { consumer },
        'changes were removed from the stream before they were read: see stak streams missed',
      );
    }
    return missed;
  }

  return {
    read: () => latest.load('', look),
    note: () => latest.delete(''),
    async forget(consumer) {
      await store.delete(missed, { consumer });
      announced.delete(consumer);
      latest.delete('');
    },
  };
}
