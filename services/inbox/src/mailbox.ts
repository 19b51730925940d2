import { type ItemOf, type WriteStep, write } from '@stak/table';
import type { Broadcasts, Head } from './broadcast-list.ts';
import type { Service } from './deps.ts';
import { noInbox } from './errors.ts';
import { type Place, type UserPlace, userText } from './places.ts';
import { type Attempt, again, done, further, untilDone } from './race.ts';
import { removeRedacted } from './redacted-copies.ts';
import { member, memberTotal } from './send-table.ts';
import { isUnsettled, settle } from './settlement.ts';
import { categoryStats, inboxConfig, publicStats, userStats } from './table.ts';
import { countsOf, emptyState, lastNumber, totalsOf, type UserState, uncategorised } from './user-state.ts';

export type Step = readonly [name: string, step: WriteStep];

// A user's inbox as of one moment: nothing in it has expired, come back or been redacted without being counted so.
export type Mailbox = {
  readonly user: UserPlace;
  readonly isMember: boolean;
  readonly state: UserState; // of a user who is no member, what it would be if they joined now
  readonly broadcasts: Broadcasts;
  readonly hidden: readonly string[]; // categories that are being deleted: the state still counts what is in them
  readonly nowMs: number;
};

// Reads two items, the user's state and the head of the messages to everyone. More only if something has happened
// by itself since the state was written: it is settled first. Reading makes nobody a member.
export async function openMailbox(service: Service, user: UserPlace): Promise<Mailbox> {
  const { store, clock } = service;
  const read = { consistent: true, pattern: 'open a mailbox' };
  return untilDone<Mailbox>(service, async () => {
    const [state, head] = await Promise.all([
      store.get(userStats, user, read),
      store.get(publicStats, user, read),
    ]);
    if (head?.erasing) throw noInbox();
    const broadcasts = await service.broadcasts.upTo(user, head);
    const hidden = head?.deleting ?? [];
    const nowMs = clock.now();
    if (!state) {
      const { late_joiners } = await readConfig(service, user);
      const joined = joinedAt(late_joiners, broadcasts, nowMs);
      const { tenant_key, inbox_key, uid } = user;
      const fresh = {
        ...emptyState({ tenant_key, inbox_key, uid }, joined),
        kind: 'US' as const,
        version: 0,
      };
      return done({ user, isMember: false, state: fresh, broadcasts, hidden, nowMs });
    }
    // The two are not of one moment. A state that knows more than the head must not be cut down to it.
    if (lastNumber(state) > broadcasts.seq) return again;
    if (isUnsettled(state, nowMs)) {
      await settle(service, user, state, nowMs);
      return further;
    }
    if (head?.redacting.length && (await removeRedacted(service, user, state, head.redacting)))
      return further;
    return done({ user, isMember: true, state, broadcasts, hidden, nowMs });
  });
}

export const isHidden = ({ hidden }: Mailbox, category: string | undefined): boolean =>
  category !== undefined && hidden.includes(category);

export type Decision<T> = { result: T; state?: UserState; steps?: readonly Step[] };

// Reads the inbox, decides, and writes on the condition that nothing has changed in between. A decision without a
// state writes nothing; none at all means to look again. Whoever changes something joins first.
export const changeMailbox = <T>(
  service: Service,
  user: UserPlace,
  pattern: string,
  decide: (box: Mailbox) => Promise<Decision<T> | undefined>,
): Promise<T> =>
  service.turns.take([userText(user)], () =>
    untilDone<T>(service, async (): Promise<Attempt<T>> => {
      const box = await openMailbox(service, user);
      const decision = await decide(box);
      if (!decision) return again;
      if (decision.state && !box.isMember) {
        await joinOnce(service, user);
        return further;
      }
      if (decision.state) {
        const steps = [...stateSteps(box.state, decision.state), ...(decision.steps ?? [])];
        await service.store.transact(steps, { pattern });
      }
      return done(decision.result);
    }),
  );

// The state, and the stats of every category whose numbers change with it. A category without messages has none:
// categories come and go, and what is left of them would add up.
export function stateSteps(
  before: UserState | undefined,
  state: Omit<UserState, 'version' | 'kind'>,
): Step[] {
  const { uid } = state;
  const whole = Object.assign({}, state, totalsOf(state.counts));
  const guard = before ? { ifVersion: before.version } : { ifAbsent: true };
  const steps: Step[] = [[`state of ${uid}`, write.put(userStats, whole, guard)]];
  const { tenant_key, inbox_key } = state;
  for (const category of new Set([...Object.keys(before?.counts ?? {}), ...Object.keys(state.counts)])) {
    const [all, unread] = countsOf(state.counts, category);
    const [allBefore, unreadBefore] = countsOf(before?.counts, category);
    if (category === uncategorised || (all === allBefore && unread === unreadBefore)) continue;
    const stats = { tenant_key, inbox_key, uid, category, published: all, read: all - unread };
    const step = all > 0 ? write.put(categoryStats, stats) : write.delete(categoryStats, stats);
    steps.push([`${category} of ${uid}`, step]);
  }
  return steps;
}

// Makes the user a member, unless they are one. What was sent to everyone before is theirs or not, by the inbox's
// policy, and what is sent from now on is.
export const join = (service: Service, user: UserPlace): Promise<{ uid: string; joinedat: number }> =>
  untilDone(service, async () => {
    await joinOnce(service, user);
    const { tenant_key, inbox_key, uid } = user;
    const found = await service.store.get(member, { tenant_key, inbox_key, uid }, { consistent: true });
    return found ? done({ uid, joinedat: found.joinedat }) : again; // erased in this moment
  });

async function joinOnce(service: Service, user: UserPlace): Promise<void> {
  const { store } = service;
  const read = { consistent: true, pattern: 'join an inbox' };
  const [state, head] = await Promise.all([
    store.get(userStats, user, read),
    store.get(publicStats, user, read),
  ]);
  if (state) return;
  const broadcasts = await service.broadcasts.upTo(user, head);
  const { tenant_key, inbox_key, uid } = user;
  const place = { tenant_key, inbox_key };
  const { late_joiners } = await readConfig(service, place);
  const joined = joinedAt(late_joiners, broadcasts, service.clock.now());
  const steps = [
    ...stateSteps(undefined, emptyState({ ...place, uid }, joined, service.ids.next())),
    ...memberSteps(service, place, [uid]),
    ...headSteps(place, head, late_joiners),
  ];
  await store.transact(steps, { pattern: 'join an inbox' });
}

async function readConfig({ store }: Service, { tenant_key, inbox_key }: Place) {
  const config = await store.get(inboxConfig, { tenant_key, inbox_key }, { consistent: true });
  if (!config || config.erasing) throw noInbox();
  return config;
}

export const memberSteps = ({ clock }: Service, place: Place, uids: readonly string[]): Step[] => {
  const joinedat = Math.floor(clock.now() / 1000);
  const members = uids.map(uid => [`member ${uid}`, write.put(member, { ...place, uid, joinedat })] as const);
  const total = write.update(memberTotal, place, { add: { users: uids.length } }, { upsert: true });
  return uids.length === 0 ? [] : [...members, ['member total', total]];
};

// Where it matters which messages came before the user, none may come in this very moment.
export function headSteps(place: Place, head: Head, policy: Policy): Step[] {
  if (policy === 'all') return [];
  const unchanged = head ? ({ present: true, if: { seq: head.seq } } as const) : ({ absent: true } as const);
  return [['no broadcast meanwhile', write.check(publicStats, place, unchanged)]];
}

type Policy = ItemOf<typeof inboxConfig>['late_joiners'];

export function joinedAt(policy: Policy, { seq, inOrder }: Broadcasts, nowMs: number): number {
  if (policy === 'all') return 0;
  if (policy === 'none') return seq;
  const live = inOrder.filter(one => one.expiredat * 1000 > nowMs);
  const first = live[live.length - policy.last];
  return first ? first.seq - 1 : 0;
}
