import { createRecentMap } from '@stak/kit';
import { nextChange } from './counts.ts';
import type { Mailbox } from './mailbox.ts';
import { userText } from './places.ts';

// Answers about a mailbox that hold until it changes. What an answer says depends on the user's state, the messages to
// everyone, the question, and the time; every change of a message is a change of its user's state. So an answer that
// was given is given again while those are the same: they are read each time, the messages are not.
export type Kept<T> = {
  find(box: Mailbox, question: string): T | undefined;
  keep(box: Mailbox, question: string, value: T): void;
};

type Entry<T> = {
  born: string;
  version: number;
  list: string;
  seq: number;
  hidden: string;
  untilMs: number;
  value: T;
};

const hiddenText = ({ hidden }: Mailbox): string => hidden.join('\n');

export function createKept<T>(most: number): Kept<T> {
  const entries = createRecentMap<string, Entry<T>>(most);
  const keyOf = ({ user }: Mailbox, question: string) => `${userText(user)} ${question}`;
  return {
    find(box, question) {
      const entry = entries.get(keyOf(box, question));
      if (!entry) return undefined;
      const { state, broadcasts, nowMs } = box;
      const isSame =
        entry.born === state.born &&
        entry.version === state.version &&
        entry.list === broadcasts.list &&
        entry.seq === broadcasts.seq &&
        entry.hidden === hiddenText(box) &&
        nowMs < entry.untilMs;
      return isSame ? entry.value : undefined;
    },
    keep(box, question, value) {
      const { born, version } = box.state;
      if (born === undefined) return;
      const untilMs = nextChange(box) ?? Number.POSITIVE_INFINITY;
      const { list, seq } = box.broadcasts;
      entries.set(keyOf(box, question), {
        ...{ born, version, list, seq, untilMs, value },
        hidden: hiddenText(box),
      });
    },
  };
}
