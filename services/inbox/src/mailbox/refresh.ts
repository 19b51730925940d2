import { type ItemOf, type NamedStep, ref, write } from '@stak/table';
import type { Deps } from '../deps.ts';
import type { MailboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { expiriesOfUser, expiry, userMessage } from '../tables.ts';
import {
  countMessage,
  flagsOf,
  hasExpired,
  isOver,
  markOf,
  markOfExpiry,
  stateSteps,
  type UserMessage,
  type UserState,
} from './state.ts';

// Time changes a mailbox without a write: messages expire and snoozed ones return. The first reader, or the stream,
// brings the counts up to date. That changes nothing that a user sees, so anyone may do it, at any time and again.

export async function refresh(deps: Deps, user: MailboxId, state: UserState, nowMs: number): Promise<void> {
  const { refreshed, steps } = hasExpired(state, nowMs)
    ? await forgetExpired(deps, user, state, nowMs)
    : wakeSnoozed(user, state, nowMs);
  deps.stateMemory.forget(user);
  await deps.store.transact([...stateSteps(state, refreshed), ...steps], { pattern: 'settle a mailbox' });
}

// Expiries hold how each message was counted, because the message itself may be gone.
async function forgetExpired({ store }: Deps, user: MailboxId, state: UserState, nowMs: number) {
  const { items } = await store.query(expiriesOfUser, user, { limit: limits.expiredTogether + 1 });
  const expired = items.slice(0, limits.expiredTogether).filter(item => isOver(item.expires, nowMs));
  let { counts } = state;
  for (const item of expired) {
    const mark = markOfExpiry(item);
    counts = countMessage(counts, mark.category, flagsOf(state, mark), -1);
  }
  const gone = new Set(expired.map(one => one.id));
  return {
    refreshed: {
      ...state,
      counts,
      next_expiry: items[expired.length]?.expires,
      snoozed: state.snoozed.filter(one => !gone.has(one.id)),
    },
    steps: expired.map(one => [`expiry of ${one.id}`, write.delete(expiry, keyOf(user, one))] as const),
  };
}

const keyOf = (user: MailboxId, { id, expires }: ItemOf<typeof expiry>) => ({ ...user, id, expires });

// A snoozed message returns unread. Ranges that are added from now on cover it, earlier ones do not.
function wakeSnoozed(user: MailboxId, state: UserState, nowMs: number) {
  const back = state.snoozed
    .filter(one => isOver(Math.min(one.until, one.expiredat), nowMs))
    .slice(0, limits.wokenTogether);
  const touched = state.version + 1;
  const steps: NamedStep[] = [];
  let { counts } = state;
  for (const one of back) {
    if (one.seq !== undefined) continue;
    counts = countMessage(
      counts,
      one.category,
      { read: false, seen: true, archived: false, snoozed: false },
      1,
    );
    steps.push(
      [`message ${one.id}`, write.update(userMessage, { ...user, id: one.id }, { set: { touched } })],
      [
        `expiry of ${one.id}`,
        write.update(expiry, { ...user, id: one.id, expires: one.expiredat }, { set: { touched } }),
      ],
    );
  }
  const left = state.snoozed.filter(one => !back.includes(one));
  return { refreshed: { ...state, counts, snoozed: left }, steps };
}

// Removes redacted copies from a mailbox and its counts. Returns whether there were any.
export async function removeRedacted(
  { store, stateMemory }: Pick<Deps, 'store' | 'stateMemory'>,
  user: MailboxId,
  state: UserState,
  ids: readonly string[],
): Promise<boolean> {
  const refs = ids.map(id => ref(userMessage, { ...user, id }));
  const found = await store.batchGet(refs, { consistent: true, pattern: 'look for redacted messages' });
  const copies = found.filter(one => one !== undefined);
  if (copies.length === 0) return false;
  const counted = await countedOf({ store }, user, copies);
  const { state: without, steps } = withoutMessages(user, state, copies, counted);
  stateMemory.forget(user);
  await store.transact([...stateSteps(state, without), ...steps], { pattern: 'remove a redacted message' });
  return true;
}

// The ids of those messages that are in the counts. The others were taken out of them, with their expiries, by a process
// whose clock is ahead. Read after the state, so if this has changed by the time of a write, so has the state.
export async function countedOf(
  { store }: Pick<Deps, 'store'>,
  user: MailboxId,
  messages: readonly Pick<UserMessage, 'id' | 'expiredat'>[],
): Promise<ReadonlySet<string>> {
  const refs = messages.map(({ id, expiredat }) => ref(expiry, { ...user, id, expires: expiredat }));
  const found = await store.batchGet(refs, { consistent: true, pattern: 'expiries of messages' });
  return new Set(found.flatMap(one => one?.id ?? []));
}

export function withoutMessages(
  user: MailboxId,
  state: UserState,
  copies: readonly UserMessage[],
  counted: ReadonlySet<string>,
) {
  const gone = new Set(copies.map(copy => copy.id));
  const steps: NamedStep[] = [];
  let { counts } = state;
  for (const copy of copies) {
    const { id, touched, expiredat } = copy;
    const removed = write.delete(userMessage, { ...user, id }, { ifPresent: true, if: { touched } });
    steps.push([`message ${id}`, removed]);
    if (!counted.has(id)) continue;
    counts = countMessage(counts, copy.taxonomy?.category, flagsOf(state, markOf(copy)), -1);
    const subtracted = write.delete(expiry, { ...user, id, expires: expiredat }, { ifPresent: true });
    steps.push([`expiry of ${id}`, subtracted]);
  }
  const snoozed = state.snoozed.filter(one => !gone.has(one.id));
  const withdrawn = state.withdrawn + copies.length;
  const withdrawn_ids = [...state.withdrawn_ids, ...gone].slice(-limits.withdrawnIds);
  return { state: { ...state, counts, snoozed, withdrawn, withdrawn_ids }, steps };
}
