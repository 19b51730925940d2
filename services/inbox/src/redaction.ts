import { ref, write } from '@stak/table';
import { headSteps, liveOf, readHead, withdrawalSteps } from './broadcasts.ts';
import { type Service, secondsNow } from './deps.ts';
import { inboxErrors, noSend } from './errors.ts';
import * as limits from './limits.ts';
import { type Step, stateSteps } from './mailbox.ts';
import type { Place } from './places.ts';
import { done, untilDone } from './race.ts';
import { erasedRecipient } from './recipients.ts';
import { removeRedacted, withoutMessages } from './redacted-copies.ts';
import { hostId, send } from './send-table.ts';
import { audienceOf, idsOfHostId, readSend, type Send } from './sends.ts';
import { deleteBodySteps } from './shared-bodies.ts';
import { userMessage, userStats } from './table.ts';

// Takes a message back from all who got it. When this has answered, nobody sees it and nobody's counts have it.
export async function redact(service: Service, place: Place, id: string): Promise<void> {
  const found = await untilDone<Send>(service, async () => {
    return done(await redactOnce(service, place, await readSend(service, place, id)));
  });
  if (found.status === 'redacting') service.due.ring();
}

// What nobody sees any more, because its category is being deleted: no reader has to hear of it. Answers whether copies
// are left for the worker.
export const redactUnseen = (service: Service, place: Place, id: string): Promise<boolean> =>
  untilDone<boolean>(service, async () => {
    const current = await readSend(service, place, id);
    const { status } = await redactOnce(service, place, current, async () => {
      const steps = redactingSteps(service, current);
      await service.store.transact(steps, { pattern: 'redact' });
    });
    return done(status === 'redacting');
  });

export async function redactHostId(service: Service, place: Place, hostSystemId: string): Promise<void> {
  for (const id of await idsOfHostId(service, place, hostSystemId)) await redact(service, place, id);
}

async function redactOnce(
  service: Service,
  place: Place,
  current: Send,
  redactCopies: (service: Service, place: Place, current: Send) => Promise<void> = announce,
): Promise<Send> {
  const { store } = service;
  if (current.status === 'redacted' || current.status === 'redacting' || current.status === 'cancelled')
    return current;
  if (current.status === 'scheduled') {
    await store.transact(await cancelSteps(service, current), { pattern: 'redact' });
    return current;
  }
  if (current.audiences.kind === 'everyone') {
    const steps = await withdrawalSteps(service, place, current.id);
    if (!steps) throw noSend(); // it has expired in this moment
    await store.transact([closeSend(current, 'redacted'), ...steps], { pattern: 'redact' });
    return current;
  }
  const [only, ...others] = current.audiences.uids ?? [];
  if (current.status === 'sent' && only && others.length === 0) {
    await store.transact(
      [
        closeSend(current, 'redacted'),
        ...deleteBodySteps(current),
        ...(await copySteps(service, place, current, only)),
      ],
      { pattern: 'redact' },
    );
    return current;
  }
  await redactCopies(service, place, current);
  return { ...current, status: 'redacting' };
}

// One recipient: the copy goes together with the record of it.
async function copySteps({ store }: Service, place: Place, { id }: Send, uid: string): Promise<Step[]> {
  const user = { ...place, uid };
  const { state, copy } = await store.transactGet({
    state: ref(userStats, user),
    copy: ref(userMessage, { ...user, id }),
  });
  if (!state || !copy) return [];
  const { state: without, steps } = withoutMessages(user, state, [copy]);
  return [...stateSteps(state, without), ...steps];
}

// Several: the head, which everyone reads first, says that it is gone, and each copy is removed by its reader or by
// the worker, whoever comes first.
async function announce(service: Service, place: Place, current: Send): Promise<void> {
  const { head, broadcasts } = await readHead(service, place);
  const redacting = [...(head?.redacting ?? []), current.id];
  if (redacting.length > limits.pendingRedactions)
    throw inboxErrors.create('inbox.redactions_busy', 'Other messages are being removed; try again.', {
      retryAfterS: 1,
    });
  const live = liveOf(broadcasts, secondsNow(service));
  const steps = [
    ...redactingSteps(service, current),
    ...headSteps(service, place, head, { redacting }, live),
  ];
  await service.store.transact(steps, { pattern: 'redact' });
}

function redactingSteps({ random, clock }: Service, current: Send): Step[] {
  const { shard = Math.floor(random() * limits.dueShards) } = current;
  const change = {
    set: { status: 'redacting', shard, dueat: clock.now(), title: null } as const,
    remove: ['message', 'fence'] as const,
  };
  const noted = write.update(send, keyOf(current), change, { if: { status: current.status } });
  return [['send', noted], ...deleteBodySteps(current)];
}

const keyOf = ({ tenant_key, inbox_key, id }: Send) => ({ tenant_key, inbox_key, id });

// Nothing was sent, so the host's id for it is free again.
export async function cancelSteps({ store }: Service, current: Send): Promise<Step[]> {
  const closed = [closeSend(current, 'cancelled'), ...deleteBodySteps(current)];
  const { tenant_key, inbox_key, id, host_system_id } = current;
  if (host_system_id === null) return closed;
  const key = { tenant_key, inbox_key, host_system_id };
  const held = await store.get(hostId, key, { consistent: true });
  return held?.id === id ? [...closed, ['host id', write.delete(hostId, key, { if: { id } })]] : closed;
}

function closeSend(current: Send, status: 'redacted' | 'cancelled'): Step {
  const change = {
    set: { status, title: null },
    remove: ['message', 'shard', 'dueat', 'fence'] as const,
  };
  return ['send', write.update(send, keyOf(current), change, { if: { status: current.status } })];
}

// The worker's part. `keep` renews its hold on the send and notes how far it got.
export async function removeCopies(
  service: Service,
  current: Send,
  keep: (removed: number) => Promise<Send>,
): Promise<void> {
  const { tenant_key, inbox_key, id } = current;
  const place = { tenant_key, inbox_key };
  const uids = await audienceOf(service, current);
  for (let i = current.removed; i < uids.length; i += limits.recipientsTogether) {
    const some = uids.slice(i, i + limits.recipientsTogether);
    const present = some.filter(uid => uid !== erasedRecipient);
    await Promise.all(present.map(uid => removeCopy(service, { ...place, uid }, id)));
    await keep(i + some.length);
  }
  await finish(service, place, current);
}

const removeCopy = (service: Service, user: Place & { uid: string }, id: string): Promise<void> =>
  untilDone<void>(service, async () => {
    const state = await service.store.get(userStats, user, { consistent: true });
    if (state) await removeRedacted(service, user, state, [id]);
    return done(undefined);
  });

const finish = (service: Service, place: Place, current: Send): Promise<void> =>
  untilDone<void>(service, async () => {
    const { head, broadcasts } = await readHead(service, place);
    const redacting = (head?.redacting ?? []).filter(one => one !== current.id);
    const steps = head?.redacting.includes(current.id)
      ? headSteps(service, place, head, { redacting }, liveOf(broadcasts, secondsNow(service)))
      : [];
    await service.store.transact([closeSend(current, 'redacted'), ...steps], {
      pattern: 'finish a redaction',
    });
    return done(undefined);
  });
