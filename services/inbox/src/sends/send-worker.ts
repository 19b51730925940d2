import { done, ignoreConflict, isConflict, type NamedStep, type WriteStep, write } from '@stak/table';
import { type Deps, retry } from '../deps.ts';
import { categoryBeingDeleted, inboxErrors, sendNotFound } from '../errors.ts';
import { type InboxId, inboxOfBucket } from '../inbox-id.ts';
import * as limits from '../limits.ts';
import { broadcastSteps } from '../publish/broadcasts.ts';
import { deliverySteps, writeDelivery } from '../publish/delivery.ts';
import { copiesPerTransaction } from '../publish/publish.ts';
import {
  audienceOf,
  erasedRecipient,
  keyOfSend,
  readSend,
  type Send,
  type SendContent,
} from '../publish/send-records.ts';
import { readPolicies } from '../settings.ts';
import { dueSends, send } from '../tables.ts';
import { cancelSteps, removeCopies } from './redaction.ts';

// Returns how many sends it looked at.
export async function runDue(deps: Deps, signal?: AbortSignal): Promise<number> {
  const { store, clock, log } = deps;
  let looked = 0;
  for (let shard = 0; shard < limits.dueShards; shard++) {
    const to = { dueat: clock.now() };
    const { items } = await store.query(dueSends, { shard }, { to, limit: limits.dueSends });
    for (const { tenant_key, bucket, id } of items) {
      const inbox_key = inboxOfBucket(bucket);
      if (signal?.aborted) return looked;
      looked += 1;
      await runSend(deps, { tenant_key, inbox_key }, id).catch(error => {
        // It stays due, and is tried again when its lease ends.
        if (!isConflict(error) && !isObsolete(error))
          log.error({ err: error, tenant_key, inbox_key, send: id }, 'could not continue a send');
      });
    }
  }
  return looked;
}

// The inbox or the category was deleted, and the deletion redacts the send.
const obsolete = new Set(['inbox.send_not_found', 'inbox.not_found', 'inbox.category_being_deleted']);
const isObsolete = (error: unknown): boolean => inboxErrors.includes(error) && obsolete.has(error.code);

export async function runSend(deps: Deps, inbox: InboxId, id: string): Promise<void> {
  const found = await readSend(deps, inbox, id);
  if (found.dueat === undefined || found.dueat > deps.clock.now()) return;
  const leased = await lease(deps, found, { dueat: found.dueat });
  if (leased.status === 'redacting')
    return removeCopies(deps, leased, removed => lease(deps, leased, { fence: leased.fence }, { removed }));
  const { message } = leased;
  if (!message) return;
  if (leased.audiences.kind === 'everyone') return broadcastNow(deps, { ...leased, message });
  return deliver(deps, inbox, { ...leased, message });
}

// Makes the sends of a dead process due at once, instead of when their leases end. The index does not contain the lease
// holders, so all sends due within a lease are read.
export async function releaseGoneSends(deps: Deps): Promise<void> {
  const { store, clock, owners } = deps;
  const nowMs = clock.now();
  const range = { after: { dueat: nowMs }, to: { dueat: nowMs + limits.leaseMs } };
  for (let shard = 0; shard < limits.dueShards; shard++)
    for await (const found of store.all(dueSends, { shard }, range)) {
      const fence = (await store.get(send, keyOfSend(found), { consistent: true }))?.fence;
      if (fence === undefined || !(await owners.isGone(fence))) continue;
      const change = { set: { dueat: nowMs, shard }, remove: ['fence'] as const };
      // Only if the dead process still has it: other processes do the same.
      await store
        .update(send, keyOfSend(found), change, { if: { fence }, pattern: 'take over a send' })
        .catch(ignoreConflict);
    }
}

// Takes or renews the lease of a send.
function lease(
  { store, clock, owners }: Deps,
  current: Send,
  guard: { dueat?: number; fence?: string },
  progress: { removed?: number } = {},
): Promise<Send> {
  const { shard } = current;
  const fence = guard.fence ?? owners.next();
  const set = { dueat: clock.now() + limits.leaseMs, shard, fence, ...progress };
  return store.update(send, keyOfSend(current), { set }, { if: guard, pattern: 'hold a send' });
}

const finished = { remove: ['message', 'shard', 'dueat', 'fence'] as const };

type LeasedSend = Send & SendContent;

const ifLeased = ({ status, fence }: LeasedSend) => ({ if: { status, fence } });

const broadcastNow = (deps: Deps, leased: LeasedSend): Promise<void> =>
  retry<void>(deps, async () => {
    const { sent, steps } = await broadcastSteps(deps, leased);
    const change = { set: { status: 'sent', ...sent } as const, ...finished };
    await transactLeased(
      deps,
      leased,
      write.update(send, keyOfSend(leased), change, ifLeased(leased)),
      steps,
    );
    return done(undefined);
  });

// Each transaction delivers to a few more recipients and records how many have it. The next one continues there.
async function deliver(deps: Deps, inbox: InboxId, first: LeasedSend): Promise<void> {
  const uids = await audienceOf(deps, first);
  const { config, deleting } = await readPolicies(deps, inbox, first);
  const { category } = first.taxonomy ?? {};
  if (category !== undefined && deleting.includes(category)) throw categoryBeingDeleted();
  const together = Math.min(deps.recipientsTogether, copiesPerTransaction(first.message));
  for (let leased = first; leased.status !== 'sent'; ) {
    if (leased.expiredat * 1000 <= deps.clock.now()) throw sendNotFound();
    const current = leased;
    leased = await retry<LeasedSend>(deps, async () => {
      const some = uids.slice(current.delivered, current.delivered + together);
      const delivered = current.delivered + some.length;
      const isLast = delivered >= uids.length;
      const present = some.filter(uid => uid !== erasedRecipient);
      const delivery = await deliverySteps(deps, current, present, config);
      const progress = isLast
        ? { set: { status: 'sent', delivered } as const, ...finished }
        : {
            set: {
              status: 'delivering',
              delivered,
              shard: current.shard,
              dueat: deps.clock.now() + limits.leaseMs,
            } as const,
          };
      const progressStep = write.update(send, keyOfSend(current), progress, ifLeased(current));
      await writeDelivery(deps, inbox, delivery, () =>
        transactLeased(deps, current, progressStep, delivery.steps),
      );
      return done({ ...current, delivered, status: isLast ? 'sent' : 'delivering' });
    });
  }
}

// After a conflict on a recipient it reads again; if the send itself was taken, it stops.
async function transactLeased(
  deps: Deps,
  leased: LeasedSend,
  progressStep: WriteStep,
  steps: readonly NamedStep[],
): Promise<void> {
  try {
    await deps.store.transact([['send', progressStep], ...steps], { pattern: 'carry on a send' });
  } catch (error) {
    const { tenant_key, inbox_key, id } = leased;
    const now = await readSend(deps, { tenant_key, inbox_key }, id);
    if (now.fence !== leased.fence || now.status !== leased.status || now.delivered !== leased.delivered)
      throw sendNotFound();
    throw error;
  }
}

export async function cancelScheduled(deps: Deps, inbox: InboxId, id: string): Promise<void> {
  await retry<void>(deps, async () => {
    const found = await readSend(deps, inbox, id);
    if (found.status === 'cancelled') return done(undefined);
    if (found.status !== 'scheduled')
      throw inboxErrors.create('inbox.already_sent', 'The message was already sent. Redact it instead.');
    await deps.store.transact(await cancelSteps(deps, found), { pattern: 'cancel a send' });
    return done(undefined);
  });
}
