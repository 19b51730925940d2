import type { Context } from './context.ts';
import { space, tokenExpiryKey } from './storage/keys.ts';
import { keysPerTransaction } from './tables/removal.ts';

const noToken = Buffer.alloc(1);

// Responses of idempotent transactions are removed after ten minutes. A token that is used again gets another expiry
// entry, so it is removed only if its old entry is still the current one.
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

// In an expiry key, the token follows the time.
export const tokenOf = (entry: Buffer): Buffer =>
  Buffer.concat([Buffer.from([space.token]), entry.subarray(7)]);
