import { done, type NamedStep, ref, write } from '@stak/table';
import { type Deps, retry, secondsNow } from '../deps.ts';
import { inboxErrors, sendNotFound } from '../errors.ts';
import type { InboxId } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { deleteBodySteps } from '../mailbox/messages.ts';
import { countedOf, removeRedacted, withoutMessages } from '../mailbox/refresh.ts';
import { stateSteps } from '../mailbox/state.ts';
import { headSteps, liveOf, readHead, withdrawalSteps } from '../publish/broadcasts.ts';
import {
  audienceOf,
  erasedRecipient,
  heldHostId,
  idsOfHostId,
  keyOfSend,
  readSend,
  type Send,
} from '../publish/send-records.ts';
import { hostId, send, userMessage, userStats } from '../tables.ts';

// Redacts a message for all recipients. When this returns, no user sees it and no count includes it.
export async function redact(deps: Deps, inbox: InboxId, id: string): Promise<void> {
  const found = await retry<Send>(deps, async () => {
    return done(await redactOnce(deps, inbox, await readSend(deps, inbox, id)));
  });
  if (found.status === 'redacting') deps.due.notify();
}

// For a message in a category that is being deleted: it is hidden already, so readers need no event. Returns whether
// copies are left for the worker.
export const redactUnseen = (deps: Deps, inbox: InboxId, id: string): Promise<boolean> =>
  retry<boolean>(deps, async () => {
    const current = await readSend(deps, inbox, id);
    const { status } = await redactOnce(deps, inbox, current, async () => {
      const steps = redactingSteps(deps, current);
      await deps.store.transact(steps, { pattern: 'redact' });
    });
    return done(status === 'redacting');
  });

export async function redactHostId(deps: Deps, inbox: InboxId, hostSystemId: string): Promise<void> {
  for (const id of await idsOfHostId(deps, inbox, hostSystemId)) await redact(deps, inbox, id);
}

async function redactOnce(
  deps: Deps,
  inbox: InboxId,
  current: Send,
  redactCopies: (deps: Deps, inbox: InboxId, current: Send) => Promise<void> = announce,
): Promise<Send> {
  const { store } = deps;
  if (current.status === 'redacted' || current.status === 'redacting' || current.status === 'cancelled')
    return current;
  if (current.status === 'scheduled') {
    await store.transact(await cancelSteps(deps, current), { pattern: 'redact' });
    return current;
  }
  if (current.audiences.kind === 'everyone') {
    const steps = await withdrawalSteps(deps, inbox, current.id);
    if (!steps) throw sendNotFound(); // it has just expired
    await store.transact([closeSend(current, 'redacted'), ...steps], { pattern: 'redact' });
    return current;
  }
  const [only, ...others] = current.audiences.uids ?? [];
  if (current.status === 'sent' && only && others.length === 0) {
    await store.transact(
      [
        closeSend(current, 'redacted'),
        ...deleteBodySteps(current),
        ...(await copySteps(deps, inbox, current, only)),
      ],
      { pattern: 'redact' },
    );
    return current;
  }
  await redactCopies(deps, inbox, current);
  return { ...current, status: 'redacting' };
}

// With one recipient, the copy is deleted in the transaction that records the redaction.
async function copySteps(
  { store, stateMemory }: Deps,
  inbox: InboxId,
  { id }: Send,
  uid: string,
): Promise<NamedStep[]> {
  const user = { ...inbox, uid };
  const { state, copy } = await store.transactGet({
    state: ref(userStats, user),
    copy: ref(userMessage, { ...user, id }),
  });
  if (!state || !copy) return [];
  const counted = await countedOf({ store }, user, [copy]);
  const { state: without, steps } = withoutMessages(user, state, [copy], counted);
  stateMemory.forget(user);
  return [...stateSteps(state, without), ...steps];
}

// With several, the head, which every reader reads first, says that the message is redacted. Each copy is removed by
// its reader or by the worker, whichever comes first.
async function announce(deps: Deps, inbox: InboxId, current: Send): Promise<void> {
  const { head, broadcasts } = await readHead(deps, inbox);
  const redacting = [...(head?.redacting ?? []), current.id];
  if (redacting.length > limits.pendingRedactions)
    throw inboxErrors.create('inbox.redactions_busy', 'Other messages are being redacted; try again.', {
      retryAfterS: 1,
    });
  const live = liveOf(broadcasts, secondsNow(deps));
  const steps = [...redactingSteps(deps, current), ...headSteps(deps, inbox, head, { redacting }, live)];
  await deps.store.transact(steps, { pattern: 'redact' });
}

function redactingSteps({ random, clock }: Deps, current: Send): NamedStep[] {
  const { shard = Math.floor(random() * limits.dueShards) } = current;
  const change = {
    set: { status: 'redacting', shard, dueat: clock.now(), title: null } as const,
    remove: ['message', 'fence'] as const,
  };
  const noted = write.update(send, keyOfSend(current), change, { if: { status: current.status } });
  return [['send', noted], ...deleteBodySteps(current)];
}

// Nothing was sent, so the host_system_id is free again.
export async function cancelSteps(deps: Deps, current: Send): Promise<NamedStep[]> {
  const closed = [closeSend(current, 'cancelled'), ...deleteBodySteps(current)];
  const held = await heldHostId(deps, current);
  return held ? [...closed, ['host id', write.delete(hostId, held, { if: { id: current.id } })]] : closed;
}

function closeSend(current: Send, status: 'redacted' | 'cancelled'): NamedStep {
  const change = {
    set: { status, title: null },
    remove: ['message', 'shard', 'dueat', 'fence'] as const,
  };
  return ['send', write.update(send, keyOfSend(current), change, { if: { status: current.status } })];
}

// Run by the worker. `keep` renews its lease on the send and records the progress.
export async function removeCopies(
  deps: Deps,
  current: Send,
  keep: (removed: number) => Promise<Send>,
): Promise<void> {
  const { tenant_key, inbox_key, id } = current;
  const inbox = { tenant_key, inbox_key };
  const uids = await audienceOf(deps, current);
  for (let i = current.removed; i < uids.length; i += limits.recipientsTogether) {
    const some = uids.slice(i, i + limits.recipientsTogether);
    const present = some.filter(uid => uid !== erasedRecipient);
    await Promise.all(present.map(uid => removeCopy(deps, { ...inbox, uid }, id)));
    await keep(i + some.length);
  }
  await finish(deps, inbox, current);
}

const removeCopy = (deps: Deps, user: InboxId & { uid: string }, id: string): Promise<void> =>
  retry<void>(deps, async () => {
    const state = await deps.store.get(userStats, user, { consistent: true });
    if (state) await removeRedacted(deps, user, state, [id]);
    return done(undefined);
  });

const finish = (deps: Deps, inbox: InboxId, current: Send): Promise<void> =>
  retry<void>(deps, async () => {
    const { head, broadcasts } = await readHead(deps, inbox);
    const redacting = (head?.redacting ?? []).filter(one => one !== current.id);
    const steps = head?.redacting.includes(current.id)
      ? headSteps(deps, inbox, head, { redacting }, liveOf(broadcasts, secondsNow(deps)))
      : [];
    await deps.store.transact([closeSend(current, 'redacted'), ...steps], {
      pattern: 'finish a redaction',
    });
    return done(undefined);
  });
