// First in, first out within an account; the accounts alternate. An account with a thousand waiting events delays the
// others by one.
export type AccountQueue<Item> = {
  size(account?: string): number;
  push(account: string, item: Item): void;
  // The account with the most items.
  longest(): string | undefined;
  // The next item of an account that may run one.
  take(mayRun: (account: string) => boolean): { account: string; item: Item } | undefined;
  // The last item of an account.
  drop(account: string): Item | undefined;
};

export function createAccountQueue<Item>(): AccountQueue<Item> {
  const accounts = new Map<string, Item[]>();
  let size = 0;
  return {
    size: account => (account === undefined ? size : (accounts.get(account)?.length ?? 0)),
    push(account, item) {
      size += 1;
      const items = accounts.get(account);
      if (items) items.push(item);
      else accounts.set(account, [item]);
    },
    longest() {
      let longest: string | undefined;
      let most = 0;
      for (const [account, { length }] of accounts) if (length > most) [longest, most] = [account, length];
      return longest;
    },
    take(mayRun) {
      for (const [account, items] of accounts) {
        if (!mayRun(account)) continue;
        const item = items.shift() as Item;
        size -= 1;
        accounts.delete(account);
        if (items.length > 0) accounts.set(account, items); // to the end of the queue
        return { account, item };
      }
      return undefined;
    },
    drop(account) {
      const items = accounts.get(account);
      if (!items) return undefined;
      size -= 1;
      if (items.length === 1) accounts.delete(account);
      return items.pop();
    },
  };
}
