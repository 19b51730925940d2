// Which of the messages to everyone a user has read or seen: all numbers up to `to`, and some after it. Users read
// in order, more or less, so the list stays short.
export type NumberSet = { to: number; also: number[] };

export function numberTest({ to, also }: NumberSet): (seq: number) => boolean {
  const others = new Set(also);
  return seq => seq <= to || others.has(seq);
}

// The members, of the live messages' numbers in ascending order, as a set again: short, and without those that
// are gone. `seq` is the last number given out: what comes later is never in the set by chance.
export function numberSet(live: readonly number[], members: ReadonlySet<number>, seq: number): NumberSet {
  const missing = live.findIndex(one => !members.has(one));
  if (missing === -1) return { to: seq, also: [] };
  return { to: live[missing]! - 1, also: live.slice(missing + 1).filter(one => members.has(one)) };
}
