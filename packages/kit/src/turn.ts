const waiting: (() => void)[] = [];

// Long work lets everybody else have a turn now and then: requests, timers, other work. One piece of long work goes on
// in each turn of the event loop: several at once would keep the others waiting for the sum of their pieces.
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (waiting.push(resolve) === 1) setImmediate(letOneGoOn);
  });
}

function letOneGoOn(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(letOneGoOn);
}

// Like `map`, in turns of so many.
export async function mapInTurns<T, R>(all: readonly T[], each: number, change: (one: T) => R): Promise<R[]> {
  const changed: R[] = [];
  for (const one of all) {
    if (changed.length > 0 && changed.length % each === 0) await nextTurn();
    changed.push(change(one));
  }
  return changed;
}
