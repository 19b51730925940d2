import type { PlainMessage } from './message-format.ts';

// What a program that knows only the document did to a conversation, judged by the messages it left: it read some of
// the newest ones, put its own after them, and wrote both back.
export type ExternalDiff =
  | { kind: 'append'; messages: PlainMessage[] } // these are new
  | { kind: 'replace'; messages: PlainMessage[] }; // it knows nothing of what we have: it began anew

// Finds where the written messages continue the known turns. The writer may have left out older messages, and may not
// have known the newest turn: one that was committed meanwhile stays, and what was appended comes after it. What it
// read ended with a whole turn, so a question that happens to be repeated does not match.
export function findNewMessages(
  knownTurns: readonly (readonly PlainMessage[])[],
  written: readonly PlainMessage[],
): ExternalDiff {
  const known = knownTurns.flat();
  if (known.length === 0) return { kind: 'append', messages: [...written] };
  const isTurnsEnd = endsOf(knownTurns);
  let best = 0;
  for (let start = 0; start < known.length; start++) {
    for (let length = 0; isSame(known[start + length], written[length]); length++)
      if (length >= best && isTurnsEnd.has(start + length)) best = length + 1;
  }
  return best === 0
    ? { kind: 'replace', messages: [...written] }
    : { kind: 'append', messages: written.slice(best) };
}

function endsOf(turns: readonly (readonly PlainMessage[])[]): Set<number> {
  let end = -1;
  return new Set(turns.map(turn => (end += turn.length)));
}

const isSame = (a: PlainMessage | undefined, b: PlainMessage | undefined): boolean =>
  a !== undefined && b !== undefined && a.role === b.role && a.content === b.content;
