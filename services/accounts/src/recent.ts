import type { Clock } from '@stak/kit';
import * as limits from './limits.ts';
import { createLru } from './lru.ts';

// What was read from the table a moment ago. Whatever is revoked in this process is forgotten at once; what
// another process revokes is noticed when the moment is over.
export type Recent<Value> = {
  // The remembered value, or what `read` gives. What it gives is not kept if anything was forgotten meanwhile: it
  // may have been read before it was revoked.
  get(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined>;
  forget(key: string): void;
};

export function createRecent<Value>({ clock, mostMs }: { clock: Clock; mostMs: number }): Recent<Value> {
  const entries = createLru<{ value: Value; readMs: number }>(limits.verifiedTokens);
  let forgotten = 0;

  const peek = (key: string): Value | undefined => {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    const ageMs = clock.now() - entry.readMs;
    return ageMs >= 0 && ageMs < mostMs ? entry.value : undefined;
  };

  return {
    async get(key, read) {
      const known = peek(key);
      if (known !== undefined) return known;
      const before = forgotten;
      const readMs = clock.now();
      const value = await read();
      if (value !== undefined && before === forgotten) entries.set(key, { value, readMs });
      return value;
    },
    forget(key) {
      forgotten += 1;
      entries.delete(key);
    },
  };
}
