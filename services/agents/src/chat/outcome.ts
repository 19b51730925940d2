import { showWaiting } from '../approvals/list.ts';
import type { showApproval } from '../approvals/views.ts';
import { showReply } from '../conversations/views.ts';
import type { TurnDeps } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import type { Address } from '../state/answer-ids.ts';
import type { TurnItem } from '../state/turn-items.ts';
import { awaitAnswer, readAnswer } from '../turns/send-message.ts';

// What became of a message, for protocols that ask for it: the answer, the approvals that it waits for, why there is no
// answer, or nothing so far.

export type Waiting = { approvals: ReturnType<typeof showApproval>[] };
export type Reply = ReturnType<typeof showReply>;
type Failure = { code: string; message: string };
export type Outcome = Reply | Waiting | Failure | undefined;

export const isWaiting = (answer: TurnItem | Waiting): answer is Waiting => 'approvals' in answer;
export const isReply = (outcome: Outcome): outcome is Reply => outcome !== undefined && 'reply' in outcome;
export const isFailure = (outcome: Outcome): outcome is Failure => outcome !== undefined && 'code' in outcome;

// The answer, or the approvals that it waits for.
export async function waitForAnswer(
  service: TurnDeps,
  address: Address,
  outcome: Promise<TurnItem | undefined>,
): Promise<TurnItem | Waiting> {
  const untilMs = service.clock.now() + limits.stallMs;
  let turn = await outcome;
  while (!turn) {
    const shown = await showWaiting(service, address);
    if ('approvals' in shown) return { approvals: shown.approvals };
    if (service.clock.now() >= untilMs)
      throw agentErrors.create('agents.conversation_busy', 'The answer is still in progress.', {
        retryAfterS: limits.busyRetryS,
      });
    turn = await awaitAnswer(service, address);
  }
  return turn;
}

export async function readOutcome(
  service: TurnDeps,
  address: Address,
): Promise<{ outcome: Outcome; atMs: number }> {
  try {
    const turn = await readAnswer(service, address);
    if (turn) return { outcome: showReply(turn, address.message_id), atMs: Date.parse(turn.created_at) };
  } catch (error) {
    if (!agentErrors.includes(error) || error.code !== 'agents.message_dropped') throw error;
    const { reason } = error.details as { reason: string };
    return { outcome: { code: reason, message: error.message }, atMs: service.clock.now() };
  }
  const shown = await showWaiting(service, address);
  return { outcome: 'approvals' in shown ? shown : undefined, atMs: service.clock.now() };
}
