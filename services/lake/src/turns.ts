import { lakeErrors } from './errors.ts';

// One query of a caller at a time: whoever sends many waits for himself, and not everybody else for him.
export function createTurns(most: number) {
  const lines = new Map<string, { last: Promise<unknown>; waiting: number }>();
  return {
    async take<T>(caller: string, work: () => Promise<T>): Promise<T> {
      const line = lines.get(caller) ?? { last: Promise.resolve(), waiting: 0 };
      if (line.waiting >= most)
        throw lakeErrors.create('lake.busy', 'Your other queries are still running.', { retryAfterS: 1 });
      lines.set(caller, line);
      line.waiting += 1;
      const turn = line.last.then(work, work);
      line.last = turn.catch(() => {});
      try {
        return await turn;
      } finally {
        line.waiting -= 1;
        if (line.waiting === 0) lines.delete(caller);
      }
    },
  };
}
