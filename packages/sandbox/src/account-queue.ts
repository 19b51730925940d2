// First in, first out within an account; the accounts take turns. An account with a thousand events waiting delays the
// others by one.
export type AccountQueue<Item> = {
  size(account?: string): number;
  push(account: string, item: Item): void;
  // The next item of an account that may have a turn.
  take(mayRun: (account: string) => boolean): { account: string; item: Item } | undefined;
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
    take(mayRun) {
      for (const [account, items] of accounts) {
        if (!mayRun(account)) continue;
        const item = items.shift() as Item;
        size -= 1;
        accounts.delete(account);
        if (items.length > 0) accounts.set(account, items); // to the end of the line
        return { account, item };
      }
      return undefined;
    },
  };
}
