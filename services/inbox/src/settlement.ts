import { type ItemOf, write } from '@stak/table';
import type { Service } from './deps.ts';
import * as limits from './limits.ts';
import { type Step, stateSteps } from './mailbox.ts';
import type { UserPlace } from './places.ts';
import { expiriesOfUser, expiry, userMessage } from './table.ts';
import { countMessage, flagsOf, markOfExpiry, type UserState } from './user-state.ts';

// What time alone does to an inbox: messages expire and snoozed ones come back. The counts are brought up to date
// by whoever looks first, a reader or the stream; it changes nothing about what is true, so it may be done at any
// time, by anyone, again.

const isOver = (second: number, nowMs: number): boolean => second * 1000 <= nowMs;

export const isUnsettled = (state: UserState, nowMs: number): boolean =>
  hasExpired(state, nowMs) || state.snoozed.some(one => isOver(Math.min(one.until, one.expiredat), nowMs));

const hasExpired = (state: UserState, nowMs: number): boolean =>
  state.next_expiry !== undefined && isOver(state.next_expiry, nowMs);

export async function settle(
  service: Service,
  user: UserPlace,
  state: UserState,
  nowMs: number,
): Promise<void> {
  const { settled, steps } = hasExpired(state, nowMs)
    ? await forgetExpired(service, user, state, nowMs)
    : wakeSnoozed(user, state, nowMs);
  await service.store.transact([...stateSteps(state, settled), ...steps], { pattern: 'settle a mailbox' });
}

// The expiries know how the messages counted, which may be gone already.
async function forgetExpired({ store }: Service, user: UserPlace, state: UserState, nowMs: number) {
  const { items } = await store.query(expiriesOfUser, user, { limit: limits.expiredTogether + 1 });
  const expired = items.slice(0, limits.expiredTogether).filter(one => isOver(one.expires, nowMs));
  let { counts } = state;
  for (const item of expired) {
    const mark = markOfExpiry(item);
    counts = countMessage(counts, mark.category, flagsOf(state, mark), -1);
  }
  const gone = new Set(expired.map(one => one.id));
  return {
    settled: {
      ...state,
      counts,
      next_expiry: items[expired.length]?.expires,
      snoozed: state.snoozed.filter(one => !gone.has(one.id)),
    },
    steps: expired.map(one => [`expiry of ${one.id}`, write.delete(expiry, keyOf(user, one))] as const),
  };
}

const keyOf = (user: UserPlace, { id, expires }: ItemOf<typeof expiry>) => ({ ...user, id, expires });

// A message comes back unread. From now on "all read" goes over it again, but not by ranges from before.
function wakeSnoozed(user: UserPlace, state: UserState, nowMs: number) {
  const back = state.snoozed
    .filter(one => isOver(Math.min(one.until, one.expiredat), nowMs))
    .slice(0, limits.wokenTogether);
  const touched = state.version + 1;
  const steps: Step[] = [];
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
  return { settled: { ...state, counts, snoozed: left }, steps };
}
