import { type Clock, createRecentMap, type MaybePromise } from '@stak/kit';
import * as limits from './limits.ts';

// Caches reads from the table for a moment. What this process revokes is forgotten at once; what another process
// revokes is noticed when the moment is over.
export type Recent<Value> = {
  // Returns the cached value, or the result of `read`. The result is not cached if anything was forgotten meanwhile,
  // because it may have been read before it was revoked. `fresh` skips the cache.
  get(key: string, read: () => Promise<Value | undefined>, fresh?: boolean): MaybePromise<Value | undefined>;
  forget(key: string): void;
  // For changes that concern many keys, such as that of a role.
  forgetAll(): void;
};

export function createRecent<Value>({ clock, mostMs }: { clock: Clock; mostMs: number }): Recent<Value> {
  let entries = createRecentMap<string, { value: Value; readMs: number }>(limits.verifiedTokens);
  let forgotten = 0;

  const peek = (key: string): Value | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    const ageMs = clock.now() - entry.readMs;
    return ageMs >= 0 && ageMs < mostMs ? entry.value : undefined;
  };

  const readAndKeep = async (key: string, read: () => Promise<Value | undefined>) => {
    const before = forgotten;
    const readMs = clock.now();
    const value = await read();
    if (value !== undefined && before === forgotten) entries.set(key, { value, readMs });
    return value;
  };

  return {
    get: (key, read, fresh = false) => (fresh ? undefined : peek(key)) ?? readAndKeep(key, read),
    forget(key) {
      forgotten += 1;
      entries.delete(key);
    },
    forgetAll() {
      forgotten += 1;
      entries = createRecentMap(limits.verifiedTokens);
    },
  };
}
