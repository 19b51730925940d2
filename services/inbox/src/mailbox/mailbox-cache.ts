import { createRecentMap } from '@stak/kit';
import { mailboxText } from '../inbox-id.ts';
import type { Mailbox } from './mailbox.ts';
import { nextChange } from './mailbox.ts';

// Caches results about a mailbox until it changes. A result depends on the user's state, the broadcasts, the query and
// the time, and every change of a message changes its user's state. So a result is valid as long as these are the same:
// they are read each time, the messages are not.
export type MailboxCache<T> = {
  get(mailbox: Mailbox, question: string): T | undefined;
  set(mailbox: Mailbox, question: string, value: T): void;
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

export function createMailboxCache<T>(most: number): MailboxCache<T> {
  const entries = createRecentMap<string, Entry<T>>(most);
  const keyOf = ({ user }: Mailbox, question: string) => `${mailboxText(user)} ${question}`;
  return {
    get(mailbox, question) {
      const entry = entries.get(keyOf(mailbox, question));
      if (!entry) return undefined;
      const { state, broadcasts, nowMs } = mailbox;
      const isSame =
        entry.born === state.born &&
        entry.version === state.version &&
        entry.list === broadcasts.list &&
        entry.seq === broadcasts.seq &&
        entry.hidden === hiddenText(mailbox) &&
        nowMs < entry.untilMs;
      return isSame ? entry.value : undefined;
    },
    set(mailbox, question, value) {
      const { born, version } = mailbox.state;
      if (born === undefined) return;
      const untilMs = nextChange(mailbox) ?? Number.POSITIVE_INFINITY;
      const { list, seq } = mailbox.broadcasts;
      entries.set(keyOf(mailbox, question), {
        ...{ born, version, list, seq, untilMs, value },
        hidden: hiddenText(mailbox),
      });
    },
  };
}
