import { failedCondition, is, isRefused, type NamedStep, write } from '@stak/table';
import type { Service, StateDeps } from '../deps.ts';
import { AnswerCancelled } from '../errors.ts';
import * as limits from '../limits.ts';
import { message, state } from '../main-table.ts';
import { retryOnConflict } from '../state/conflict-retry.ts';
import {
  type ConversationKey,
  dueAt,
  isLeased,
  isPaused,
  keyOfConversation,
  readState,
} from '../state/lease.ts';
import { readMessages } from '../state/reads.ts';
import type { MessageItem } from '../state/turn-items.ts';

// A message whose answer was stopped says so in the table, so that the holder of the lease, now or after a crash,
// commits what there is instead of asking a model.

export const isCancelled = ({ cancelled_at }: Pick<MessageItem, 'cancelled_at'>): boolean =>
  cancelled_at !== undefined;

// Messages whose answer was stopped have a turn of their own, before the others. So has a message whose caller says how to
// answer it.
export function nextOf(waiting: readonly MessageItem[]): readonly MessageItem[] {
  const cancelled = waiting.filter(isCancelled);
  if (cancelled.length > 0) return cancelled;
  const own = waiting.findIndex(({ options }) => options !== undefined);
  return own < 0 ? waiting : waiting.slice(0, Math.max(1, own));
}

// Stops the answers to everything that waits in a conversation, or only if this message does. Returns the ids of the
// messages.
export async function cancelAnswers(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  key: ConversationKey,
  onlyIf?: string,
): Promise<string[]> {
  const cancelled = await retryOnConflict(service, () =>
    tryToCancel(service, keyOfConversation(key), onlyIf),
  );
  for (const one of cancelled) service.hub.settle(one);
  if (cancelled.length > 0) service.notifier.notify();
  return cancelled.map(({ message_id }) => message_id);
}

async function tryToCancel(
  service: Pick<Service, 'store' | 'clock' | 'dueShards'>,
  key: ConversationKey,
  onlyIf: string | undefined,
): Promise<MessageItem[] | undefined> {
  const known = await readState(service, key);
  if (!known || known.is_deleted) return [];
  const waiting = (await readMessages(service, key, known.waiting ?? [])).filter(one => !isCancelled(one));
  const isMeant = onlyIf === undefined || waiting.some(({ message_id }) => message_id === onlyIf);
  if (waiting.length === 0 || !isMeant) return [];
  const nowMs = Math.floor(service.clock.now());
  const asSeen = {
    epoch: known.epoch,
    waiting_count: known.waiting_count,
    fence: known.fence ?? is.absent,
    paused: known.paused ?? is.absent,
  };
  // The holder of the lease notices. Otherwise a worker does, also of a turn that waits for an approval or to be tried
  // again.
  const set = {
    ...(isPaused(known, nowMs) && { paused_until: nowMs }),
    ...(!isLeased(known, nowMs) && dueAt(service, key, nowMs)),
  };
  const remove = known.reply === undefined ? (['retry_at'] as const) : [];
  const isNothing = Object.keys(set).length + remove.length === 0;
  const steps: NamedStep[] = [
    [
      'the state',
      isNothing
        ? write.check(state, key, { present: true, if: asSeen })
        : write.update(state, key, { set, remove }, { if: asSeen }),
    ],
    ...waiting.map(
      ({ message_id }): NamedStep => [
        `message ${message_id}`,
        write.update(
          message,
          { ...key, message_id },
          { set: { cancelled_at: nowMs } },
          { if: { status: 'waiting' } },
        ),
      ],
    ),
  ];
  try {
    await service.store.transact(steps, { pattern: 'cancel answers' });
    return waiting;
  } catch (error) {
    if (!isRefused(error) && !failedCondition(error)) throw error;
    return undefined; // something else happened first: look again
  }
}

export type CancelWatch = { readonly signal: AbortSignal; stop(): void };

// Aborts when the answer to these messages is stopped, in whichever process: all messages of a turn are, or none.
export function watchCancelled(
  service: Pick<Service, 'store' | 'log' | 'hub'>,
  [first]: readonly MessageItem[],
): CancelWatch {
  const over = new AbortController();
  const cancelled = new AbortController();
  if (!first) return { signal: cancelled.signal, stop() {} };
  const listening = service.hub.listen(first);
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const [current] = await readMessages(service, first, [first.message_id]).catch(error => {
        service.log.warn({ err: error }, 'whether an answer was stopped is not known');
        return [];
      });
      if (current && isCancelled(current)) return cancelled.abort(new AnswerCancelled());
      await listening.wait(limits.cancelPollMs, over.signal);
    }
  };
  watch()
    .catch(() => {}) // the turn ended while it waited
    .finally(() => listening.close());
  return { signal: cancelled.signal, stop: () => over.abort('over') };
}
