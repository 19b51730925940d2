import { lakeErrors } from '../errors.ts';

export type FairQueueLimits = {
  atOnce: number; // pieces of work under way
  perAccount: number; // of one account, under way and waiting
  waiting: number; // of all accounts together
};

type Waiting = { begin(): void; refuse(error: unknown): void };

// Shares capacity between accounts, in rotation, with one piece of work per account at a time. An account that sends
// many, through all its keys and end users, waits for itself and delays others by one piece of work at most.
export function createFairQueue({ atOnce, perAccount, waiting: most }: FairQueueLimits) {
  const lines = new Map<string, Waiting[]>(); // the account that is next comes first
  const working = new Set<string>();
  let waiting = 0;

  function next(): void {
    for (const [account, line] of lines) {
      if (working.size >= atOnce) return;
      if (working.has(account)) continue;
      const [first] = line.splice(0, 1);
      waiting -= 1;
      if (line.length === 0) lines.delete(account);
      working.add(account);
      first!.begin();
    }
  }

  // When the queue is full, the account that waits with the most loses its last one.
  function makeRoom(account: string): boolean {
    if (waiting < most) return true;
    const [longest, line] = [...lines].reduce((one, other) =>
      other[1].length > one[1].length ? other : one,
    );
    if (line.length <= (lines.get(account)?.length ?? 0) + 1) return false;
    line.pop()!.refuse(tooMany());
    waiting -= 1;
    if (line.length === 0) lines.delete(longest);
    return true;
  }

  function enter(account: string): Promise<void> {
    const line = lines.get(account) ?? [];
    if (line.length + (working.has(account) ? 1 : 0) >= perAccount) return Promise.reject(tooMany());
    if (!makeRoom(account)) return Promise.reject(tooMany());
    return new Promise((begin, refuse) => {
      line.push({ begin, refuse });
      lines.set(account, line);
      waiting += 1;
      next();
    });
  }

  return {
    async run<T>(account: string, work: () => Promise<T>): Promise<T> {
      await enter(account);
      try {
        return await work();
      } finally {
        working.delete(account);
        const line = lines.get(account);
        // An account that was served goes to the end.
        if (line) {
          lines.delete(account);
          lines.set(account, line);
        }
        next();
      }
    },
  };
}

const tooMany = () =>
  lakeErrors.create('lake.busy', 'Other queries of your account are still running.', { retryAfterS: 5 });
