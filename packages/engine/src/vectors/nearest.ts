// The `limit` nearest of the candidates that are offered: a heap with the farthest of them on top, which the next nearer
// one replaces. Of equal distances the one that `isBefore` puts first is nearer.

type Candidate = { readonly distance: number };

export function createNearest<T extends Candidate>(limit: number, isBefore: (a: T, b: T) => boolean) {
  const heap: T[] = [];
  const isNearer = (a: T, b: T): boolean =>
    a.distance < b.distance || (a.distance === b.distance && isBefore(a, b));

  function rise(at: number): void {
    for (let child = at; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!isNearer(heap[parent]!, heap[child]!)) return;
      swap(parent, child);
      child = parent;
    }
  }

  function sink(): void {
    for (let parent = 0; ; ) {
      let farthest = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2])
        if (child < heap.length && isNearer(heap[farthest]!, heap[child]!)) farthest = child;
      if (farthest === parent) return;
      swap(parent, farthest);
      parent = farthest;
    }
  }

  function swap(a: number, b: number): void {
    const held = heap[a]!;
    heap[a] = heap[b]!;
    heap[b] = held;
  }

  return {
    // A candidate that is farther than this need not be made.
    farthest: (): number => (heap.length < limit ? Number.POSITIVE_INFINITY : heap[0]!.distance),
    offer(candidate: T): void {
      if (heap.length < limit) {
        heap.push(candidate);
        rise(heap.length - 1);
      } else if (isNearer(candidate, heap[0]!)) {
        heap[0] = candidate;
        sink();
      }
    },
    sorted: (): T[] => heap.toSorted((a, b) => (isNearer(a, b) ? -1 : 1)),
  };
}
