import { type NamedStep, write } from '@stak/table';
import type { Deps } from '../deps.ts';
import type { InboxId } from '../inbox-id.ts';
import { joinedAt, memberSteps, unchangedHeadSteps } from '../mailbox/mailbox.ts';
import { countMessage, emptyState, stateSteps, type UserState } from '../mailbox/state.ts';
import type { ReadStates } from '../mailbox/state-memory.ts';
import type { InboxConfig } from '../settings.ts';
import { expiry, userMessage } from '../tables.ts';
import type { SendContent } from './send-records.ts';

export type Delivery = {
  steps: NamedStep[];
  uids: readonly string[];
  read: ReadStates; // before
  written: UserState[]; // after
};

const arrived = { read: false, seen: false, archived: false, snoozed: false };

// The copy of each user: the message, its expiry and the user's counts. They are written in the transaction that
// records the progress, so no user gets a message twice.
export async function deliverySteps(
  deps: Deps,
  content: SendContent,
  uids: readonly string[],
  config: Pick<InboxConfig, 'late_joiners'>,
): Promise<Delivery> {
  const { clock, stateMemory } = deps;
  const { tenant_key, inbox_key, id, taxonomy } = content;
  const inbox = { tenant_key, inbox_key };
  const read = await stateMemory.read(inbox, uids);
  const { states, remembered } = read;
  const newUids = uids.filter((_, i) => !states[i]);
  const joining = await joinTogether(deps, inbox, newUids, config);

  const delivered = Math.floor(clock.now() / 1000);
  const { kind, label } = content.audiences;
  const steps: NamedStep[] = [...joining.steps];
  const written: UserState[] = [];
  for (const [i, uid] of uids.entries()) {
    const user = { tenant_key, inbox_key, uid };
    const before = states[i];
    const state = before ?? emptyState(user, joining.joined, deps.ids.next());
    const touched = (before?.version ?? 0) + 1;
    const { host_system_id, sender, cause, received, expiredat, message, body_bytes } = content;
    const copy = {
      tenant_key,
      inbox_key,
      uid,
      id,
      host_system_id,
      sender,
      cause,
      audiences: { kind, label },
      received,
      delivered,
      expiredat,
      taxonomy,
      message,
      body_bytes,
      readat: null,
      seenat: null,
      archivedat: null,
      ordinal: state.added + 1,
      touched,
    };
    const mark = { category: taxonomy?.category, read: false, seen: false, archived: false, touched };
    const after = Object.assign({}, state, {
      counts: countMessage(state.counts, taxonomy?.category, arrived, 1),
      added: state.added + 1,
      next_expiry: Math.min(state.next_expiry ?? expiredat, expiredat),
    });
    steps.push(
      [`copy for ${uid}`, write.put(userMessage, copy, { ifAbsent: true })],
      [`expiry for ${uid}`, write.put(expiry, { id, expires: expiredat, ...user, ...mark })],
      ...stateSteps(before, after, remembered.has(uid)),
    );
    written.push(Object.assign({}, after, { kind: 'US' as const, version: touched }));
  }
  return { steps, uids, read, written };
}

// Writes a delivery, and remembers the states of its recipients for the next one.
export async function writeDelivery(
  { stateMemory }: Pick<Deps, 'stateMemory'>,
  inbox: InboxId,
  { uids, read, written }: Delivery,
  send: () => Promise<void>,
): Promise<void> {
  try {
    await send();
  } catch (error) {
    stateMemory.failed(inbox, uids, read, error);
    throw error;
  }
  stateMemory.wrote(written, read);
}

async function joinTogether(
  deps: Deps,
  inbox: { tenant_key: string; inbox_key: string },
  uids: readonly string[],
  { late_joiners }: Pick<InboxConfig, 'late_joiners'>,
): Promise<{ joined: number; steps: NamedStep[] }> {
  const members = memberSteps(deps, inbox, uids);
  if (uids.length === 0 || late_joiners === 'all') return { joined: 0, steps: members };
  const head = await deps.headOf(inbox);
  const broadcasts = await deps.broadcasts.upTo(inbox, head);
  return {
    joined: joinedAt(late_joiners, broadcasts, deps.clock.now()),
    steps: [...members, ...unchangedHeadSteps(inbox, head, late_joiners)],
  };
}
