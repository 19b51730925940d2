import type { PlainMessage } from '../state/message-format.ts';

// A program that knows only the documented item reads some of the newest messages, adds its own, and writes both back.
// This derives from the messages that it left what it did to the conversation.
export type ExternalDiff =
  | { kind: 'append'; messages: PlainMessage[] } // these are new
  | { kind: 'replace'; messages: PlainMessage[] }; // nothing in common with the log: it started over

// Finds where the written messages continue the known turns. The writer may have dropped older messages, and may not
// know the newest turn: a turn committed in the meantime stays, and the appended messages come after it. What it read
// ended with a whole turn, so a repeated question does not match by accident.
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
