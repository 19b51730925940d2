import * as limits from '../limits.ts';
import { dropOrphans } from '../state/context-window.ts';
import { type Message, splitTurns } from '../state/message-format.ts';
import type { NewTurn } from '../state/turn-items.ts';

// Converts imported messages to turns of the log. A long series of one user's messages becomes several turns. Calls of the
// last turn may still wait for their results.
export const turnsOfMessages = (messages: readonly Message[], endsOpen = false): NewTurn[] =>
  splitTurns(messages)
    .map((turn, i, { length }) => (endsOpen && i === length - 1 ? turn : dropOrphans(turn)))
    .flatMap(splitLong)
    .map(turn => ({ messages: JSON.stringify(turn), message_ids: [], routing: 'import' }));

function splitLong(turn: readonly Message[]): Message[][] {
  const parts: Message[][] = [];
  let bytes = 0;
  for (const message of turn) {
    const size = Buffer.byteLength(JSON.stringify(message));
    if (parts.length === 0 || bytes + size > limits.importedTurnBytes) {
      parts.push([]);
      bytes = 0;
    }
    bytes += size;
    parts.at(-1)!.push(message);
  }
  return parts;
}
