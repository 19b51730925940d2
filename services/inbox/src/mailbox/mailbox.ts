import { type Attempt, conflict, done, type ItemOf, type NamedStep, progress, write } from '@stak/table';
import { type Deps, retry } from '../deps.ts';
import { inboxNotFound } from '../errors.ts';
import { type InboxId, type MailboxId, mailboxText } from '../inbox-id.ts';
import type { ShownCounts } from '../schema.ts';
import { inboxConfig, member, memberTotal, publicStats, userStats } from '../tables.ts';
import type { Broadcasts, Head } from './broadcast-list.ts';
import { refresh, removeRedacted } from './refresh.ts';
import {
  broadcastFlags,
  emptyState,
  isStale,
  isVisible,
  lastNumber,
  stateSteps,
  type UserState,
  uncategorised,
} from './state.ts';

// A user's mailbox at one moment. Its counts include everything that has expired, returned or been redacted until then.
export type Mailbox = {
  readonly user: MailboxId;
  readonly isMember: boolean;
  readonly state: UserState; // of a user who is not a member, as if they joined now
  readonly broadcasts: Broadcasts;
  readonly hidden: readonly string[]; // categories that are being deleted; the state still counts their messages
  readonly nowMs: number;
};

// Reads two items: the user's state and the head of the broadcasts. It reads more only if the state is out of date,
// which is corrected first. Reading does not make a user a member.
export async function openMailbox(deps: Deps, user: MailboxId): Promise<Mailbox> {
  const { store, clock } = deps;
  const read = { consistent: true, pattern: 'open a mailbox' };
  return retry<Mailbox>(deps, async () => {
    const [state, head] = await Promise.all([store.get(userStats, user, read), deps.headOf(user)]);
    if (head?.erasing) throw inboxNotFound();
    const broadcasts = await deps.broadcasts.upTo(user, head);
    const hidden = head?.deleting ?? [];
    const nowMs = clock.now();
    if (!state) {
      const { late_joiners } = await readConfig(deps, user);
      const joined = joinedAt(late_joiners, broadcasts, nowMs);
      const { tenant_key, inbox_key, uid } = user;
      const fresh = {
        ...emptyState({ tenant_key, inbox_key, uid }, joined),
        kind: 'US' as const,
        version: 0,
      };
      return done({ user, isMember: false, state: fresh, broadcasts, hidden, nowMs });
    }
    // The two are read at different moments. A state that is newer than the head must not be cut down to it.
    if (lastNumber(state) > broadcasts.seq) return conflict;
    if (isStale(state, nowMs)) {
      await refresh(deps, user, state, nowMs);
      return progress;
    }
    if (head?.redacting.length && (await removeRedacted(deps, user, state, head.redacting))) return progress;
    return done({ user, isMember: true, state, broadcasts, hidden, nowMs });
  });
}

export const isHidden = ({ hidden }: Mailbox, category: string | undefined): boolean =>
  category !== undefined && hidden.includes(category);

export type Decision<T> = { result: T; state?: UserState; steps?: readonly NamedStep[] };

// Reads the mailbox, decides, and writes on the condition that nothing has changed in between. A decision without a
// state writes nothing; no decision means to read again. A user who marks something becomes a member first.
export const changeMailbox = <T>(
  deps: Deps,
  user: MailboxId,
  pattern: string,
  decide: (mailbox: Mailbox) => Promise<Decision<T> | undefined>,
): Promise<T> =>
  deps.lock.run([mailboxText(user)], () =>
    retry<T>(deps, async (): Promise<Attempt<T>> => {
      const mailbox = await openMailbox(deps, user);
      const decision = await decide(mailbox);
      if (!decision) return conflict;
      if (decision.state && !mailbox.isMember) {
        await joinOnce(deps, user);
        return progress;
      }
      if (decision.state) {
        deps.stateMemory.forget(user);
        const steps = [...stateSteps(mailbox.state, decision.state), ...(decision.steps ?? [])];
        await deps.store.transact(steps, { pattern });
      }
      return done(decision.result);
    }),
  );

// Makes the user a member, unless they are one. Whether they see earlier messages to everyone depends on the inbox's
// `late_joiners`.
export const join = (deps: Deps, user: MailboxId): Promise<{ uid: string; joinedat: number }> =>
  retry(deps, async () => {
    await joinOnce(deps, user);
    const { tenant_key, inbox_key, uid } = user;
    const found = await deps.store.get(member, { tenant_key, inbox_key, uid }, { consistent: true });
    return found ? done({ uid, joinedat: found.joinedat }) : conflict; // it was just erased
  });

async function joinOnce(deps: Deps, user: MailboxId): Promise<void> {
  const { store } = deps;
  const read = { consistent: true, pattern: 'join an inbox' };
  const [state, head] = await Promise.all([store.get(userStats, user, read), deps.headOf(user)]);
  if (state) return;
  const broadcasts = await deps.broadcasts.upTo(user, head);
  const { tenant_key, inbox_key, uid } = user;
  const inbox = { tenant_key, inbox_key };
  const { late_joiners } = await readConfig(deps, inbox);
  const joined = joinedAt(late_joiners, broadcasts, deps.clock.now());
  const steps = [
    ...stateSteps(undefined, emptyState({ ...inbox, uid }, joined, deps.ids.next())),
    ...memberSteps(deps, inbox, [uid]),
    ...unchangedHeadSteps(inbox, head, late_joiners),
  ];
  await store.transact(steps, { pattern: 'join an inbox' });
}

async function readConfig({ store }: Deps, { tenant_key, inbox_key }: InboxId) {
  const config = await store.get(inboxConfig, { tenant_key, inbox_key }, { consistent: true });
  if (!config || config.erasing) throw inboxNotFound();
  return config;
}

export const memberSteps = ({ clock }: Deps, inbox: InboxId, uids: readonly string[]): NamedStep[] => {
  const joinedat = Math.floor(clock.now() / 1000);
  const members = uids.map(uid => [`member ${uid}`, write.put(member, { ...inbox, uid, joinedat })] as const);
  const total = write.update(memberTotal, inbox, { add: { users: uids.length } }, { upsert: true });
  return uids.length === 0 ? [] : [...members, ['member total', total]];
};

// Where `late_joiners` hides earlier messages, none may be published while the user joins.
export function unchangedHeadSteps(inbox: InboxId, head: Head, policy: Policy): NamedStep[] {
  if (policy === 'all') return [];
  const unchanged = head ? ({ present: true, if: { seq: head.seq } } as const) : ({ absent: true } as const);
  return [['no broadcast meanwhile', write.check(publicStats, inbox, unchanged)]];
}

type Policy = ItemOf<typeof inboxConfig>['late_joiners'];

export function joinedAt(policy: Policy, { seq, inOrder }: Broadcasts, nowMs: number): number {
  if (policy === 'all') return 0;
  if (policy === 'none') return seq;
  const live = inOrder.filter(one => one.expiredat * 1000 > nowMs);
  const first = live[live.length - policy.last];
  return first ? first.seq - 1 : 0;
}

type Numbers = { total: number; unread: number; unseen: number };

export async function readCounts(deps: Deps, user: MailboxId): Promise<ShownCounts> {
  const mailbox = await openMailbox(deps, user);
  const known = deps.countsCache.get(mailbox, 'counts');
  if (known) return known;
  const counts = countAll(mailbox);
  deps.countsCache.set(mailbox, 'counts', counts);
  return counts;
}

// The state holds the counts of the user's own messages. Messages to everyone are counted here, from the user's flags,
// so their count cannot drift.
export function countAll(mailbox: Mailbox): ShownCounts {
  const { state, broadcasts, nowMs } = mailbox;
  const counted = new Map<string, Numbers>();
  for (const [category, [total, unread, unseen]] of Object.entries(state.counts))
    if (!isHidden(mailbox, category)) counted.set(category, { total, unread, unseen });
  const flagsOf = broadcastFlags(state);
  for (const one of broadcasts.inOrder) {
    if (!isVisible(state, one, nowMs)) continue;
    const { read, seen, archived, snoozed } = flagsOf(one);
    if (archived || snoozed) continue;
    const category = one.category ?? uncategorised;
    const numbers = counted.get(category) ?? { total: 0, unread: 0, unseen: 0 };
    if (numbers.total === 0) counted.set(category, numbers);
    numbers.total += 1;
    if (!read) numbers.unread += 1;
    if (!seen) numbers.unseen += 1;
  }
  const sum = { total: 0, unread: 0, unseen: 0 };
  for (const { total, unread, unseen } of counted.values()) {
    sum.total += total;
    sum.unread += unread;
    sum.unseen += unseen;
  }
  counted.delete(uncategorised);
  return { ...sum, categories: Object.fromEntries(counted) };
}

// When the counts change without a write, in milliseconds; undefined if they do not.
export function nextChange({ state, broadcasts, nowMs }: Mailbox): number | undefined {
  const seconds = [
    ...(state.next_expiry === undefined ? [] : [state.next_expiry]),
    ...state.snoozed.map(one => Math.min(one.until, one.expiredat)),
    ...broadcasts.inOrder.map(one => one.expiredat),
  ].filter(second => second * 1000 > nowMs);
  return seconds.length === 0 ? undefined : Math.min(...seconds) * 1000;
}
