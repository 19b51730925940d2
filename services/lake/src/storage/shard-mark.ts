// How far a shard has been captured. Pages arrive in order, so one number would be enough, except for a page with an
// unreadable record: its records arrive one by one, and those of different items out of order. These are remembered
// individually until the next page.

export type Mark = { through: string; singles: string[]; at: number };

export const singlesMost = 1000; // handled one by one, no page has more records, so those of an earlier page are not needed

// Sequence numbers are whole numbers too long for a double: the longer one is greater.
export const compareSequences = (a: string, b: string): number =>
  a.length - b.length || (a < b ? -1 : a === b ? 0 : 1);

export const isCaptured = (mark: Mark | undefined, sequence: string): boolean =>
  mark !== undefined && (compareSequences(sequence, mark.through) <= 0 || mark.singles.includes(sequence));

export type Captured = { shard: string; last: string; isPage: boolean };

export function moveMark(
  mark: Mark | undefined,
  { last, isPage }: Omit<Captured, 'shard'>,
  at: number,
): Mark {
  const { through, singles } = mark ?? { through: '', singles: [] };
  // Before a page of several records is read, everything before it is done.
  if (isPage)
    return { through: last, singles: singles.filter(single => compareSequences(single, last) > 0), at };
  const all = [...singles, last].sort(compareSequences);
  const surplus = all.length - singlesMost;
  return surplus > 0
    ? { through: all[surplus - 1]!, singles: all.slice(surplus), at }
    : { through, singles: all, at };
}
