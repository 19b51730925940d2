import type { Clock } from '@stak/kit';
import { createRecentMap, createTimedCache } from '@stak/kit';
import type { Owner, Store } from '@stak/table';
import { inSeconds } from '../../deps.ts';
import * as limits from './limits.ts';
import { ownerAccount } from './tables.ts';

// Looks up the account of an owner in its service, while the owner exists.
export type AccountOf<Kind extends string> = {
  readonly [K in Exclude<Kind, 'account'>]: (id: string) => Promise<string | undefined>;
};

export type Payers<Kind extends string> = {
  // The account that an owner's items count towards. Undefined if there is none or it was deleted.
  accountOf(owner: Owner<Kind>): Promise<string | undefined>;
};

type PayersDeps<Kind extends string> = {
  store: Store;
  clock: Clock;
  accountOf: AccountOf<Kind>;
  exists(accountId: string): Promise<boolean>;
};

// An owner's account never changes, but the owner may be deleted before the last of its items is subtracted. So the
// account is stored.
export function createPayers<Kind extends string>(deps: PayersDeps<Kind>): Payers<Kind> {
  const { store, clock } = deps;
  const cache = createRecentMap<string, { accountId: string | undefined; untilMs: number }>(
    limits.ownersKept,
  );
  const alive = createTimedCache<boolean>({ clock, most: limits.ownersKept, forMs: limits.accountMs });

  async function find({ kind, id }: Owner<Kind>): Promise<string | undefined> {
    if (kind === 'account') return id;
    const kept = cache.get(`${kind} ${id}`);
    if (kept && kept.untilMs > clock.now()) return kept.accountId;
    const ask = deps.accountOf[kind as Exclude<Kind, 'account'>];
    const accountId = (await ask(id)) ?? (await store.get(ownerAccount, { kind, id }))?.account_id;
    if (accountId === undefined) {
      cache.set(`${kind} ${id}`, { accountId, untilMs: clock.now() + limits.accountMs });
      return undefined;
    }
    const expires_at = inSeconds(clock.now()) + limits.ownerS;
    await store.put(ownerAccount, { kind, id, account_id: accountId, expires_at });
    cache.set(`${kind} ${id}`, { accountId, untilMs: clock.now() + limits.ownerMs });
    return accountId;
  }

  // Counts of a deleted account would stay for ever.
  const isAlive = (accountId: string): Promise<boolean> =>
    alive.load(accountId, () => deps.exists(accountId));

  return {
    async accountOf(owner) {
      const accountId = await find(owner);
      return accountId !== undefined && (await isAlive(accountId)) ? accountId : undefined;
    },
  };
}
