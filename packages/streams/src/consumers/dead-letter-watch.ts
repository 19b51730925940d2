import type { Clock, Logger } from '@stak/kit';
import type { Store } from '@stak/table';
import { lettersFreshMs } from '../limits.ts';
import { lettersOfConsumer } from '../work/state-table.ts';

/** Says which consumers have dead letters. Made with `createDeadLetterWatch`. */
export type DeadLetterWatch = {
  // The consumers that have dead letters.
  read(): Promise<readonly string[]>;
  // Called when this process has stored a dead letter: the last result is out of date.
  note(): void;
};

type Settings = { store: Store; clock: Clock; log: Logger; consumers: readonly string[] };

/**
 * Tells operators which consumers have dead letters, of any process and any age. Logs a warning once per consumer,
 * until its letters have been handled.
 */
export function createDeadLetterWatch({ store, clock, log, consumers }: Settings): DeadLetterWatch {
  const announced = new Set<string>();
  let latest: { atMs: number; answer: Promise<readonly string[]> } | undefined;

  async function look(): Promise<readonly string[]> {
    const pages = await Promise.all(
      consumers.map(consumer => store.query(lettersOfConsumer, { consumer }, { limit: 1 })),
    );
    const failing = consumers.filter((_, i) => pages[i]!.items.length > 0);
    for (const consumer of consumers)
      if (!failing.includes(consumer)) announced.delete(consumer);
      else if (!announced.has(consumer)) {
        announced.add(consumer);
        log.warn({ consumer }, `records are set aside: see stak streams letters ${consumer}`);
      }
    return failing;
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
