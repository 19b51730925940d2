import { createRecentMap } from '@stak/kit';
import { failedCondition, ref, type Store } from '@stak/table';
import { type InboxId, type MailboxId, mailboxText } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { userStats } from '../tables.ts';
import { stateStep, type UserState } from './state.ts';

// The states that this process wrote last, so that a message to a user need not read theirs. Their next write has their
// version as its condition: if another process has written since, it is refused, and the state is read.
export type StateMemory = {
  read(inbox: InboxId, uids: readonly string[]): Promise<ReadStates>;
  // After a write: the states as they are stored now.
  wrote(states: readonly UserState[], read: ReadStates): void;
  // After a write that failed, or whose response was lost.
  failed(inbox: InboxId, uids: readonly string[], read: ReadStates, error: unknown): void;
  // Before this process writes a state that it has read itself.
  forget(user: MailboxId): void;
};
export type ReadStates = {
  readonly states: readonly (UserState | undefined)[];
  readonly remembered: ReadonlySet<string>; // uids
};

export function createStateMemory(store: Store): StateMemory {
  const states = createRecentMap<string, UserState>(limits.rememberedStates);
  const trust = createTrust();

  const recall = (user: MailboxId): UserState | undefined =>
    trust.isPaused() ? undefined : states.get(mailboxText(user));
  const readAll = async (users: readonly MailboxId[]): Promise<(UserState | undefined)[]> => {
    const read = { consistent: true, pattern: 'states of recipients' };
    if (users.length === 1) return [await store.get(userStats, users[0]!, read)];
    const refs = users.map(user => ref(userStats, user));
    return refs.length === 0 ? [] : store.batchGet(refs, read);
  };

  return {
    async read({ tenant_key, inbox_key }, uids) {
      const found = new Map<string, UserState>();
      const users = uids.map(uid => ({ tenant_key, inbox_key, uid }));
      for (const user of users) {
        const state = recall(user);
        if (state) found.set(user.uid, state);
      }
      const remembered = new Set(found.keys());
      for (const state of await readAll(users.filter(({ uid }) => !remembered.has(uid))))
        if (state) found.set(state.uid, state);
      return { states: uids.map(uid => found.get(uid)), remembered };
    },
    wrote(written, { remembered }) {
      trust.confirm(remembered.size);
      for (const state of written) if (isSmall(state)) states.set(mailboxText(state), state);
    },
    failed({ tenant_key, inbox_key }, uids, { remembered }, error) {
      for (const uid of uids) states.delete(mailboxText({ tenant_key, inbox_key, uid }));
      if ([...remembered].some(uid => failedCondition(error, stateStep(uid)))) trust.lose();
    },
    forget: user => states.delete(mailboxText(user)),
  };
}

// Versions start again when a user joins again, so a state without the mark of its beginning could be mistaken for a
// later one.
const isSmall = ({ born, read_numbers, seen_numbers, archived_numbers }: UserState): boolean =>
  born !== undefined &&
  read_numbers.also.length + seen_numbers.also.length + archived_numbers.length <= limits.rememberedNumbers;

// A refused write costs as much as many reads. Where several processes write to the same users, most of what they
// remember is outdated. So after each refusal, more and more states are read before one is remembered again.
function createTrust() {
  let pause = 0;
  let left = 0;
  let confirmed = 0;
  return {
    isPaused(): boolean {
      if (left === 0) return false;
      left -= 1;
      return true;
    },
    confirm(count: number): void {
      confirmed += count;
      if (confirmed < limits.confirmedStates) return;
      confirmed = 0;
      pause = Math.floor(pause / 2);
    },
    lose(): void {
      confirmed = 0;
      pause = Math.min(limits.statesReadMost, Math.max(limits.statesReadFirst, pause * 2));
      left = pause;
    },
  };
}
