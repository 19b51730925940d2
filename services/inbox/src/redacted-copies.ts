import { ref, write } from '@stak/table';
import type { Service } from './deps.ts';
import * as limits from './limits.ts';
import { type Step, stateSteps } from './mailbox.ts';
import type { UserPlace } from './places.ts';
import { expiry, userMessage } from './table.ts';
import { countMessage, flagsOf, markOf, type UserMessage, type UserState } from './user-state.ts';

// Takes copies out of a user's inbox and its counts. Answers whether there were any.
export async function removeRedacted(
  { store }: Pick<Service, 'store'>,
  user: UserPlace,
  state: UserState,
  ids: readonly string[],
): Promise<boolean> {
  const refs = ids.map(id => ref(userMessage, { ...user, id }));
  const found = await store.batchGet(refs, { consistent: true, pattern: 'look for redacted messages' });
  const copies = found.filter(one => one !== undefined);
  if (copies.length === 0) return false;
  const { state: without, steps } = withoutMessages(user, state, copies);
  await store.transact([...stateSteps(state, without), ...steps], { pattern: 'remove a redacted message' });
  return true;
}

export function withoutMessages(user: UserPlace, state: UserState, copies: readonly UserMessage[]) {
  const gone = new Set(copies.map(one => one.id));
  const steps: Step[] = [];
  let { counts } = state;
  for (const copy of copies) {
    counts = countMessage(counts, copy.taxonomy?.category, flagsOf(state, markOf(copy)), -1);
    const { id, touched, expiredat } = copy;
    steps.push(
      [`message ${id}`, write.delete(userMessage, { ...user, id }, { ifPresent: true, if: { touched } })],
      [`expiry of ${id}`, write.delete(expiry, { ...user, id, expires: expiredat })],
    );
  }
  const snoozed = state.snoozed.filter(one => !gone.has(one.id));
  const withdrawn = state.withdrawn + copies.length;
  const withdrawn_ids = [...state.withdrawn_ids, ...gone].slice(-limits.withdrawnIds);
  return { state: { ...state, counts, snoozed, withdrawn, withdrawn_ids }, steps };
}
