import type { Context } from './context.ts';
import type { Peers } from './peers.ts';
import { metaKey } from './storage/keys.ts';
import { encodeJson, readMeta } from './storage/store.ts';

type Claim = { id: string; until: number };

// Lets one of several processes do a piece of work, until it ends or stops renewing its claim.
export function createClaims({ store, submit, now }: Context, peers: Pick<Peers, 'id' | 'isGone'>) {
  const ownId = peers.id ?? `${process.pid}-alone`;
  return async (name: string, leaseMs: number): Promise<boolean> => {
    store.refresh();
    const seen = readMeta<Claim>(store, name);
    const isOthers = seen !== undefined && seen.id !== ownId && seen.until > now();
    if (isOthers && !(await peers.isGone(seen.id))) return false;
    const mine: Claim = { id: ownId, until: now() + leaseMs };
    return submit(tx => {
      // If several see that it is free, the first one gets it.
      const held = readMeta<Claim>(store, name);
      if (held && held.id !== ownId && (held.id !== seen?.id || held.until !== seen.until)) return false;
      tx.put(metaKey(name), encodeJson(mine));
      return true;
    });
  };
}
