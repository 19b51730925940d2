import type { Context } from './context.ts';
import { space, tokenExpiryKey } from './storage/keys.ts';
import { keysPerTransaction } from './tables/removal.ts';

const noToken = Buffer.alloc(1);

// Answers to idempotent transactions are forgotten after ten minutes. A token that is used again gets another
// expiry entry, so only while its old one is still there may it go.
export async function forgetTokens(context: Context): Promise<number> {
  let forgotten = 0;
  while (true) {
    const entries = expiredEntries(context);
    if (entries.length === 0) return forgotten;
    await context.submit(tx => {
      for (const entry of entries) {
        if (!tx.has(entry)) continue;
        tx.remove(entry);
        tx.remove(tokenOf(entry));
      }
    });
    forgotten += entries.length;
  }
}

function expiredEntries(context: Context): Buffer[] {
  const start = tokenExpiryKey(0, noToken);
  const end = tokenExpiryKey(Math.max(0, Math.ceil(context.now())), noToken);
  const entries: Buffer[] = [];
  for (const { key } of context.store.keys({ start, end })) {
    entries.push(key);
    if (entries.length === keysPerTransaction) break;
  }
  return entries;
}

// Of an expiry key, the part behind the time names the token.
export const tokenOf = (entry: Buffer): Buffer =>
  Buffer.concat([Buffer.from([space.token]), entry.subarray(7)]);
