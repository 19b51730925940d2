import { DynamoError } from '../errors.ts';
import type { Tx } from './committer.ts';
import { metaKey } from './keys.ts';
import { encodeJson, readMeta, type Store } from './store.ts';

// A pause of all writes, for every process that has the store open. It is a record in the store that each write
// transaction reads, so nothing is committed between its start and its end. It ends by itself, because the process that
// started it may be killed; for a store that has moved elsewhere it can be made final.

export type WritePause = {
  by: string;
  until: number | null; // null: final
  note?: unknown;
};

export const writePauseName = 'write-pause';
const key = metaKey(writePauseName);

export function createWritePause(store: Store, now: () => number) {
  const find = (): WritePause | undefined => readMeta<WritePause>(store, writePauseName);
  const isOver = ({ until }: WritePause): boolean => until !== null && until <= now();
  const save = (tx: Tx, pause: WritePause) => tx.put(key, encodeJson(pause));

  return {
    read(): WritePause | undefined {
      const pause = find();
      return pause && !isOver(pause) ? pause : undefined;
    },
    // Why this transaction must not write. A pause that has expired is removed by the first transaction after it, so
    // the process that started it can detect whether any has written since.
    refusal(tx: Tx): DynamoError | undefined {
      const pause = find();
      if (!pause) return undefined;
      if (isOver(pause)) {
        tx.remove(key);
        return undefined;
      }
      return pause.until === null
        ? new DynamoError('StoreMovedException', 'the store has moved elsewhere')
        : new DynamoError('ThrottlingException', 'writes are paused for a moment');
    },
    start(tx: Tx, by: string, forMs: number): void {
      const pause = find();
      if (pause && pause.by !== by) throw new Error(`writes are paused by ${pause.by}`);
      if (pause?.until === null) throw new Error('the store has moved elsewhere');
      save(tx, { by, until: now() + forMs });
    },
    end(tx: Tx, by: string): void {
      const pause = find();
      if (pause?.by === by && pause.until !== null) tx.remove(key);
    },
    makeFinal(tx: Tx, by: string, note: unknown): void {
      const pause = find();
      if (pause?.by !== by) throw new Error('the pause of writes was over too early');
      save(tx, { by, until: null, note });
    },
  };
}
