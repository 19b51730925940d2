import type { SearchIndex } from './search-index.ts';

export type SearchBudget = { readonly bytes: number; readonly accountBytes: number };

type CachedIndex = { index: SearchIndex; bytes: number };
type Account = { bytes: number; readonly users: Map<string, CachedIndex> }; // the least recently used user first

// The indexes of the users who searched last, within a number of bytes for all accounts and for each. Where memory is
// short, the account with the most loses its least recently used index: nobody with less than an equal share loses
// anything to others, however many users an account has.
export function createIndexCache(budget: SearchBudget) {
  const accounts = new Map<string, Account>();
  const accountIds = new Map<string, string>(); // by user
  let total = 0;

  function remove(userId: string): void {
    const accountId = accountIds.get(userId);
    const account = accountId === undefined ? undefined : accounts.get(accountId);
    const kept = account?.users.get(userId);
    if (accountId === undefined || !account || !kept) return;
    accountIds.delete(userId);
    account.users.delete(userId);
    account.bytes -= kept.bytes;
    total -= kept.bytes;
    if (account.users.size === 0) accounts.delete(accountId);
  }

  // The account itself, if no other has more.
  function largest(account: Account): Account {
    let most = account;
    for (const one of accounts.values()) if (one.bytes > most.bytes) most = one;
    return most;
  }

  const removeOldest = ({ users }: Account) => {
    const [oldest] = users.keys();
    if (oldest !== undefined) remove(oldest);
  };

  return {
    get: (userId: string): SearchIndex | undefined =>
      accounts.get(accountIds.get(userId) ?? '')?.users.get(userId)?.index,
    accountOf: (userId: string) => accountIds.get(userId),
    remove,
    // Keeps an index that is new or has grown. False if there is no room for it.
    keep(userId: string, accountId: string, index: SearchIndex): boolean {
      remove(userId);
      const account = accounts.get(accountId) ?? { bytes: 0, users: new Map() };
      const bytes = index.bytes();
      accounts.set(accountId, account);
      accountIds.set(userId, accountId);
      account.users.set(userId, { index, bytes });
      account.bytes += bytes;
      total += bytes;
      while (account.bytes > budget.accountBytes) removeOldest(account);
      while (total > budget.bytes) removeOldest(largest(account));
      return account.users.get(userId)?.index === index;
    },
    users: () => accountIds.size,
    bytes: () => total,
  };
}
