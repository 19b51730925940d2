import * as limits from '../limits.ts';
import type { NewTurn } from '../turns/commit-turn.ts';
import { dropOrphans } from '../turns/context-window.ts';
import { type Message, splitTurns } from './message-format.ts';

// Converts imported messages to turns of the log. A long series of one user's messages becomes several turns.
export const turnsOfMessages = (messages: readonly Message[]): NewTurn[] =>
  splitTurns(messages)
    .map(dropOrphans)
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
