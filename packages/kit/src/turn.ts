// Long work lets everybody else have a turn now and then: requests, timers, other work.
export const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

// Like `map`, in turns of so many.
export async function mapInTurns<T, R>(all: readonly T[], each: number, change: (one: T) => R): Promise<R[]> {
  const changed: R[] = [];
  for (const one of all) {
    if (changed.length > 0 && changed.length % each === 0) await nextTurn();
    changed.push(change(one));
  }
  return changed;
}
