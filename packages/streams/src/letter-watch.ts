import type { Clock, Logger } from '@stak/kit';
import type { Store } from '@stak/table';
import { lettersFreshMs } from './limits.ts';
import { lettersOfConsumer } from './state-table.ts';

/** Says which consumers have dead letters. Made with `createLetterWatch`. */
export type LetterWatch = {
  // The consumers that have records set aside.
  read(): Promise<readonly string[]>;
  // This process has just set one aside: what was read before is outdated.
  note(): void;
};

type Settings = { store: Store; clock: Clock; log: Logger; consumers: readonly string[] };

/**
 * Whether records are set aside, by any process, now or long ago: for those who look after a server. Each consumer's
 * letters are announced once in the log, until somebody has handled them.
 */
export function createLetterWatch({ store, clock, log, consumers }: Settings): LetterWatch {
  const announced = new Set<string>();
  let latest: { atMs: number; answer: Promise<readonly string[]> } | undefined;

  async function look(): Promise<readonly string[]> {
    const pages = await Promise.all(
      consumers.map(consumer => store.query(lettersOfConsumer, { consumer }, { limit: 1 })),
    );
    const found = consumers.filter((_, i) => pages[i]!.items.length > 0);
    for (const consumer of consumers)
      if (!found.includes(consumer)) announced.delete(consumer);
      else if (!announced.has(consumer)) {
        announced.add(consumer);
        log.warn({ consumer }, `records are set aside: see stak streams letters ${consumer}`);
      }
    return found;
  }

  return {
    read() {
      if (latest && clock.now() - latest.atMs < lettersFreshMs) return latest.answer;
      const answer = look();
      latest = { atMs: clock.now(), answer };
      answer.catch(() => {
        if (latest?.answer === answer) latest = undefined;
      });
      return answer;
    },
    note() {
      latest = undefined;
    },
  };
}
