export type DiffLine = { kind: 'same' | 'removed' | 'added'; text: string };

const cellsMost = 1_000_000; // compared pairs of lines, about 20 ms

/** How one text becomes another, line by line. Texts too long to compare are shown one after the other. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const lines = (kind: DiffLine['kind'], of: readonly string[]) => of.map(text => ({ kind, text }));
  return [
    ...lines('same', a.slice(0, start)),
    ...diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...lines('same', a.slice(a.length - end)),
  ];
}

// By the longest common subsequence.
function diffMiddle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const width = b.length + 1;
  const isComparable = (a.length + 1) * width <= cellsMost;
  const common = new Uint32Array(isComparable ? (a.length + 1) * width : 0);
  if (isComparable)
    for (let i = a.length - 1; i >= 0; i--)
      for (let j = b.length - 1; j >= 0; j--)
        common[i * width + j] =
          a[i] === b[j]
            ? common[(i + 1) * width + j + 1]! + 1
            : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (isComparable && i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i]! });
      i++;
      j++;
    } else if (
      i < a.length &&
      (j === b.length || !isComparable || common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      lines.push({ kind: 'removed', text: a[i++]! });
    else lines.push({ kind: 'added', text: b[j++]! });
  }
  return lines;
}
