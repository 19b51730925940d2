import { type Clock, createRecentMap, type MaybePromise } from '@stak/kit';
import * as limits from './limits.ts';

// What was read from the table a moment ago. Whatever is revoked in this process is forgotten at once; what
// another process revokes is noticed when the moment is over.
export type Recent<Value> = {
  // The remembered value, or what `read` gives. What it gives is not kept if anything was forgotten meanwhile: it
  // may have been read before it was revoked. `fresh`: what is remembered will not do.
  get(key: string, read: () => Promise<Value | undefined>, fresh?: boolean): MaybePromise<Value | undefined>;
  forget(key: string): void;
};

export function createRecent<Value>({ clock, mostMs }: { clock: Clock; mostMs: number }): Recent<Value> {
  const entries = createRecentMap<string, { value: Value; readMs: number }>(limits.verifiedTokens);
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
  };
}
