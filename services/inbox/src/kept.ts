import { nextChange } from './counts.ts';
import type { Mailbox } from './mailbox.ts';
import { userText } from './places.ts';

// Answers about a mailbox that hold until it changes. What an answer says depends on the user's state, the messages to
// everyone, the question, and the time; every change of a message is a change of its user's state. So an answer that
// was given is given again while those are the same: they are read each time, the messages are not.
export type Kept<T> = {
  find(box: Mailbox, question: string): T | undefined;
  keep(box: Mailbox, question: string, value: T, size: number): void;
};

type Entry<T> = { born: string; version: number; seq: number; untilMs: number; value: T; size: number };

export function createKept<T>(most: number): Kept<T> {
  const entries = new Map<string, Entry<T>>(); // the longest unused first
  let size = 0;
  const keyOf = ({ user }: Mailbox, question: string) => `${userText(user)} ${question}`;
  const take = (key: string): Entry<T> | undefined => {
    const entry = entries.get(key);
    if (!entry) return undefined;
    entries.delete(key);
    size -= entry.size;
    return entry;
  };
  const put = (key: string, entry: Entry<T>) => {
    entries.set(key, entry);
    size += entry.size;
    for (const oldest of entries.keys()) {
      if (size <= most) break;
      take(oldest);
    }
  };
  return {
    find(box, question) {
      const key = keyOf(box, question);
      const entry = take(key);
      if (!entry) return undefined;
      const { state, broadcasts, nowMs } = box;
      const isSame =
        entry.born === state.born &&
        entry.version === state.version &&
        entry.seq === broadcasts.seq &&
        nowMs < entry.untilMs;
      if (!isSame) return undefined;
      put(key, entry);
      return entry.value;
    },
    keep(box, question, value, size) {
      const { born, version } = box.state;
      if (born === undefined) return;
      const key = keyOf(box, question);
      take(key);
      const untilMs = nextChange(box) ?? Number.POSITIVE_INFINITY;
      put(key, { born, version, seq: box.broadcasts.seq, untilMs, value, size });
    },
  };
}
