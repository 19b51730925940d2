import { markWork, sharedPollMs, type Worker, watchGone } from '@stak/kit';
import { is, isRefused, isUnavailable, retryWhileLeased } from '@stak/table';
import { tenantErrors } from '@stak/tenants';
import { settleApprovals } from '../approvals/paused-turn.ts';
import { showDecisions } from '../channels/question.ts';
import { replyTo, sayUnavailable, sendReply } from '../channels/send-reply.ts';
import { deleteConversation, dropMessages, purge } from '../conversations/deletion.ts';
import type { Base, EnteredTenant, ModelDeps, Service, SkillDeps, StateDeps, TurnDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { conversation, dueStates, state } from '../main-table.ts';
import { findDueJobs, noteTurns, releaseGoneJobs, runMemoryJob } from '../memory/jobs.ts';
import { forgetConversation } from '../memory/memory.ts';
import { turnPrincipal } from '../state/access.ts';
import {
  type ConversationKey,
  type ConversationLease,
  dueWhenFree,
  isPaused,
  keyOfConversation,
  release,
  releaseGone,
  triesOf,
  whileHeld,
  withLease,
} from '../state/lease.ts';
import { readPaused } from '../state/paused.ts';
import { readHead, readMessages, readWaiting } from '../state/reads.ts';
import type { MessageItem } from '../state/turn-items.ts';
import { isCancelled, nextOf } from './cancel.ts';
import { runTurn, type TurnRun } from './run-turn.ts';
import { never, reasonOf } from './send-message.ts';

// Background work of conversations: answers messages that came by a channel or were left by a crashed process, sends
// answers to channels, and removes what was cleared, deleted or has expired.
export const createTurnWorker = (service: TurnDeps & Pick<Service, 'channels' | 'memoryNotifier'>): Worker =>
  createDueWorker(service, {
    name: 'agents turns',
    notifier: service.notifier,
    concurrency: limits.workConcurrency,
    pollMs: limits.duePollMs,
    releaseGone: () => releaseGone(service),
    find: beforeMs => findDue(service, beforeMs),
    work: (key, stopping) => processSafely(service, key, stopping),
  });

// Summarises conversations, a few at a time: no user waits for it, and it must not slow down answers.
export const createMemoryWorker = (
  service: Base &
    ModelDeps &
    Pick<Service, 'owners' | 'dueShards' | 'sealer' | 'enterTenant' | 'memoryNotifier'>,
): Worker =>
  createDueWorker(service, {
    name: 'agents memory',
    notifier: service.memoryNotifier,
    concurrency: limits.memoryConcurrency,
    pollMs: limits.memoryPollMs,
    releaseGone: () => releaseGoneJobs(service),
    find: async () => ({ due: await findDueJobs(service) }),
    work: (key, stopping) =>
      runMemoryJob(service, key, stopping).catch(error =>
        service.log.error({ err: error, ...key }, 'a summary was not made'),
      ),
  });

type DueWork = {
  name: string;
  notifier: Service['notifier'];
  concurrency: number;
  pollMs: number;
  releaseGone(): Promise<void>;
  // What is due, and when the next one is, if that is before `beforeMs`.
  find(beforeMs: number): Promise<Due>;
  work(key: ConversationKey, stopping: AbortSignal): Promise<void>;
};
type Due = { due: ConversationKey[]; nextMs?: number };

// Works on what is due, one piece of a conversation at a time. When stopped, it starts nothing new; unfinished work is
// due again when its lease ends, or as soon as this process is known to be gone.
const createDueWorker = (
  service: Pick<Service, 'clock' | 'owners' | 'dueShards'>,
  { name, notifier, concurrency, pollMs, releaseGone, find, work }: DueWork,
): Worker => ({
  name,
  async run(signal) {
    const running = new Map<string, Promise<void>>();
    const gone = watchGone(service.owners, notifier.notify);
    try {
      while (!signal.aborted) {
        await gone.check(() => takeOver(service, releaseGone));
        await service.dueShards.refresh();
        const nowMs = service.clock.now();
        const emptyMs = sharedPollMs(service.owners, name, pollMs);
        const { due, nextMs } = await find(nowMs + emptyMs);
        for (const key of due) {
          const id = `${key.tenant_id}#${key.conversation_id}`;
          if (running.has(id) || running.size >= concurrency) continue;
          const working = work(key, signal).finally(() => {
            running.delete(id);
            notifier.notify();
          });
          running.set(id, working);
        }
        const mostMs = due.length > 0 ? pollMs : emptyMs;
        const leftMs = nextMs === undefined ? mostMs : nextMs - service.clock.now();
        await notifier.wait(Math.min(mostMs, Math.max(0, leftMs)), signal);
      }
    } finally {
      gone.stop();
      await Promise.all(running.values());
    }
  },
});

async function takeOver(service: Pick<Service, 'dueShards'>, releaseAll: () => Promise<void>): Promise<void> {
  await service.dueShards.refresh('urgent'); // a dead process may have added some
  await releaseAll();
}

// Runs everything that is due now, once: for tests, and for runs without a worker.
export async function runDue(
  service: TurnDeps & Pick<Service, 'channels' | 'memoryNotifier'>,
): Promise<{ worked: number }> {
  await service.dueShards.refresh();
  const { due } = await findDue(service, service.clock.now());
  await Promise.all(due.map(key => processSafely(service, key, never)));
  const jobs = await findDueJobs(service);
  for (const key of jobs) await runMemoryJob(service, key, never);
  return { worked: due.length + jobs.length };
}

// The conversations of all shards that are due now, and the time of the next one if that is soon.
async function findDue(
  service: Pick<Service, 'store' | 'clock' | 'dueShards'>,
  beforeMs: number,
): Promise<Due> {
  const nowMs = service.clock.now();
  const range = { to: { due_at: beforeMs }, limit: limits.dueTogether };
  const pages = await Promise.all(
    service.dueShards.all().map(due_lane => service.store.query(dueStates, { due_lane }, range)),
  );
  const found = pages.flatMap(page => page.items);
  const due = found.filter(({ due_at = 0 }) => due_at <= nowMs);
  const later = found.map(({ due_at = 0 }) => due_at).filter(atMs => atMs > nowMs);
  return { due, ...(later.length > 0 && { nextMs: Math.min(...later) }) };
}

const processSafely = (
  service: TurnDeps & Pick<Service, 'channels' | 'memoryNotifier'>,
  key: ConversationKey,
  stopping: AbortSignal,
): Promise<void> =>
  processConversation(service, key, stopping).catch(error =>
    service.log.error({ err: error, ...keyOfConversation(key) }, 'could not process a conversation'),
  );

// Handles one conversation under one lease. The index may be out of date; the leased state is not.
async function processConversation(
  service: TurnDeps & Pick<Service, 'channels' | 'memoryNotifier'>,
  key: ConversationKey,
  stopping: AbortSignal,
): Promise<void> {
  await withLease(service, key, async held => {
    markWork('agent turn');
    const { reply, waiting_count, paused, quiet_at = Infinity, retry_at = 0, has_stale } = held.state;
    const nowMs = service.clock.now();
    const isOwed = reply !== undefined || (paused === undefined && waiting_count > 0);
    if (isOwed && retry_at > nowMs && !has_stale)
      return release(service, held, current => dueWhenFree(current, nowMs), triesOf(held.state));
    if (isOwed && retry_at > nowMs) return tidy(service, held);
    if (reply !== undefined) return deliver(service, held, reply);
    if (paused !== undefined && !isPaused(held.state, nowMs)) return resume(service, held, stopping);
    if (paused === undefined && waiting_count > 0) return answer(service, held, stopping);
    if (quiet_at <= nowMs) return noteTurns(service, held);
    return tidy(service, held);
  });
}

// Only this process knows that the reply was sent, until that is stored: nobody else may have the lease before.
const deliver = (
  service: Base & SkillDeps & Pick<Service, 'dueShards' | 'notifier' | 'channels'>,
  held: ConversationLease,
  reply: string,
): Promise<void> =>
  whileHeld(service, held, async () => {
    const retry = await sendReply(service, held.key, reply);
    const nowMs = service.clock.now();
    const dueMs = retry?.untilMs ?? nowMs;
    const next = { reply: retry?.reply ?? null, retry_at: retry?.untilMs };
    await retryWhileLeased(() => release(service, held, () => dueMs, next), {
      clock: service.clock,
      untilMs: () => held.state.leased_until ?? 0,
    });
  });

// Resumes a paused turn: everything is decided, an approval has expired, or a process crashed.
async function resume(
  service: TurnDeps & Pick<Service, 'channels'>,
  held: ConversationLease,
  stopping: AbortSignal,
): Promise<void> {
  const progress = await readPaused(service, held.key);
  const waiting = progress ? await readMessages(service, held.key, progress.message_ids) : [];
  if (!progress || waiting.length === 0)
    return giveUp(service, held, waiting, new Error('the turn is gone'), undefined);
  const ready = await settleApprovals(service, held.key, progress);
  const showing = showDecisions(service, held.key, progress, ready.approvals);
  if (!ready.isReady && !waiting.some(isCancelled)) {
    await showing;
    const nowMs = service.clock.now();
    const paused_until = ready.untilMs;
    return release(service, held, current => dueWhenFree(current, nowMs), { paused_until });
  }
  await attempt(service, held, waiting, stopping, { progress, approvals: ready.approvals });
  await showing;
}

async function answer(service: TurnDeps, held: ConversationLease, stopping: AbortSignal): Promise<void> {
  const waiting = nextOf(await readWaiting(service, held.state));
  if (waiting.length === 0) {
    const known = held.state.waiting_count; // of deleted messages
    const nowMs = service.clock.now();
    return release(service, held, ({ waiting_count }) =>
      waiting_count > known ? nowMs : nowMs + limits.expiryGraceMs,
    );
  }
  return attempt(service, held, waiting, stopping);
}

async function attempt(
  service: TurnDeps,
  held: ConversationLease,
  waiting: readonly MessageItem[],
  stopping: AbortSignal,
  paused?: TurnRun['paused'],
): Promise<void> {
  let tenant: EnteredTenant;
  try {
    tenant = await service.enterTenant(
      turnPrincipal(held.key.tenant_id, held.state.user_id),
      held.key.tenant_id,
    );
  } catch (error) {
    if (!tenantErrors.includes(error)) throw error;
    return giveUp(service, held, waiting, error, undefined); // suspended or deleted since
  }
  try {
    const isLast = (held.state.attempts ?? 0) + 1 >= limits.turnAttempts;
    await runTurn(service, { held, waiting, tenant, paused, isLast });
  } catch (error) {
    service.log.warn({ err: error, ...held.key }, 'a turn failed');
    // A throttled or unavailable store does not count as a failed attempt of the turn, nor does a server that stops.
    const isCounted = !isUnavailable(error) && !stopping.aborted;
    const attempts = (held.state.attempts ?? 0) + (isCounted ? 1 : 0);
    if (attempts >= limits.turnAttempts)
      return giveUp(service, held, waiting, error, replyTo(waiting, sayUnavailable));
    const retryMs = service.clock.now() + delayBefore(attempts, error);
    await release(service, held, () => retryMs, { attempts, retry_at: retryMs });
  }
}

// Longer with each attempt, and as long as the model's provider asks for.
function delayBefore(attempts: number, error: unknown): number {
  const { retryAfterS = 0 } = Object(Object(error).details) as { retryAfterS?: number };
  const askedMs = Math.min(retryAfterS * 1000, limits.turnRetryMostMs);
  return Math.max(limits.turnRetryMs * Math.max(1, attempts), askedMs);
}

const giveUp = (
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  held: ConversationLease,
  waiting: readonly MessageItem[],
  error: unknown,
  reply: string | undefined,
): Promise<void> => dropMessages(service, held, waiting, reasonOf(error), { reply });

// Removes earlier epochs, and the whole conversation if its item has expired or was deleted.
async function tidy(
  service: StateDeps & Pick<Service, 'store' | 'clock' | 'sealer'>,
  held: ConversationLease,
): Promise<void> {
  const nowMs = service.clock.now();
  await forgetConversation(service, held.state);
  const head = await readHead(service, held.key);
  if (!head && !held.state.is_deleted) {
    await removeExpired(service, held.key);
    return deleteConversation(service, held.key);
  }
  if ((await purge(service, held)) === 'more')
    return release(service, held, () => nowMs, triesOf(held.state));
  if (held.state.is_deleted) return forget(service, held);
  const idleMs = head!.ttl * 1000 + limits.expiryGraceMs;
  return release(service, held, current => dueWhenFree(current, nowMs, idleMs), {
    ...triesOf(held.state),
    has_stale: false,
    isForgotten: true,
  });
}

// DynamoDB removes it within days. Until then another program could write to it again.
async function removeExpired(
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  key: ConversationKey,
): Promise<void> {
  const nowS = Math.floor(clock.now() / 1000);
  await store.delete(conversation, keyOfConversation(key), { if: { ttl: is.atMost(nowS) } }).catch(error => {
    if (!isRefused(error)) throw error;
  });
}

async function forget({ store }: Pick<Service, 'store'>, held: ConversationLease): Promise<void> {
  await store.delete(state, held.key, { if: { fence: held.fence, waiting_count: 0 } }).catch(error => {
    if (!isRefused(error)) throw error;
  });
}
