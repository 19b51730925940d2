import type { Principal } from '@stak/http';
import { inSpan } from '@stak/kit';
import { type ApprovalItem, type Progress, pauseTurn } from '../approvals/paused-turn.ts';
import { runCalls } from '../approvals/run-calls.ts';
import { replayEvents, sayWaiting, showApproval } from '../approvals/views.ts';
import { replyTo } from '../channels/send-reply.ts';
import { readCurrentHead, restartConversation, type Settled } from '../conversations/external-writes.ts';
import type { Message } from '../conversations/message-format.ts';
import { answerOf, showReply } from '../conversations/views.ts';
import type { Entered, Service } from '../deps.ts';
import { cleared } from '../errors.ts';
import * as limits from '../limits.ts';
import { readAgentSettings } from '../settings.ts';
import { enabledSkills } from '../skills/enabled-skills.ts';
import type { SkillScope } from '../skills/skill.ts';
import type { Live } from '../streaming/live-answers.ts';
import { commitTurns, HeadMoved, type MessageItem, type NewTurn, type TurnItem } from './commit-turn.ts';
import { type Held, whileHeld } from './lease.ts';
import { type Made, makeReply } from './reply.ts';

export type TurnRun = {
  held: Held;
  waiting: readonly MessageItem[];
  tenant: Entered;
  paused?: { progress: Progress; approvals: readonly ApprovalItem[] }; // where it resumes
  isLast?: boolean; // no further attempt follows
};

// A turn belongs to the user of its conversation, even if a worker runs it: the worker acts as that user.
export const turnPrincipal = (tenantId: string, userId: string | undefined): Principal => ({
  kind: 'endUser',
  tenantId,
  userId: userId ?? '-',
  scope: 'write',
});

// Answers all waiting messages under the lease, and commits once. Returns undefined, with the lease released, if an
// approval is needed first. Rejects if there is no answer; the messages then still wait.
export async function runTurn(service: Service, run: TurnRun): Promise<TurnItem | undefined> {
  const { held, waiting, paused } = run;
  const live = service.hub.open(waiting, { isResumed: paused !== undefined });
  if (paused) for (const event of replayEvents(paused.progress, paused.approvals)) live.push(event);
  try {
    const attributes = { 'gen_ai.conversation.id': held.key.conversation_id };
    const committed = await inSpan('agent turn', { attributes }, () =>
      withDeadline(service, held, signal => answerAll(service, run, live, signal)),
    );
    if (committed) live.push({ event: 'reply', data: showReply(committed, committed.message_ids[0]!) });
    return committed;
  } finally {
    live.end();
  }
}

async function answerAll(
  service: Service,
  run: TurnRun,
  live: Live,
  signal: AbortSignal,
): Promise<TurnItem | undefined> {
  const { held, waiting, tenant, isLast } = run;
  const { max_conversation_history: mostMessages } = tenant.settings;
  const { approval_hours: hours } = readAgentSettings(tenant.settings);
  let { progress, approvals = [] } = run.paused ?? {};
  const settled = await settleHead(service, held, waiting, mostMessages);
  const scope = scopeOf(run, signal);
  const refresh = () => service.enterTenant(turnPrincipal(tenant.tenant_id, scope.user_id), tenant.tenant_id);
  const [said, message_ids] = [waiting.map(one => one.content ?? ''), waiting.map(one => one.message_id)];
  const { tail } = settled;
  for (;;) {
    const skills = await enabledSkills(service, progress ? await refresh() : tenant);
    const emit = live.push;
    if (progress) progress = await runCalls(service, { held, progress, approvals, skills, scope, emit });
    const asked = { tenant, refresh, said, message_ids, tail, skills, scope, progress, isLast, emit };
    const made = await makeReply(service, asked);
    if ('messages' in made) return commit(service, run, settled, made, progress);
    progress = made.progress;
    const reply = replyTo(waiting, sayWaiting(progress.calls), progress.turn_id);
    const needsApproval = progress.calls.some(({ approval_id }) => approval_id !== undefined);
    approvals = await pauseTurn(service, held, progress, { hours, ...(needsApproval && { reply }) });
    if (needsApproval) {
      live.push({ event: 'waiting', data: { approvals: approvals.map(showApproval) } });
      return undefined;
    }
  }
}

async function settleHead(
  service: Service,
  held: Held,
  waiting: readonly MessageItem[],
  mostMessages: number,
): Promise<Settled> {
  const settled = await readCurrentHead(service, held, tailTurns(mostMessages));
  if (settled) return settled;
  await restartConversation(service, held, waiting[0]?.channel);
  return (await readCurrentHead(service, held, 0)) ?? lost();
}

async function commit(
  service: Service,
  { held, waiting, tenant }: TurnRun,
  begun: Settled,
  made: Made,
  paused: Progress | undefined,
): Promise<TurnItem> {
  const settings = readAgentSettings(tenant.settings);
  const { max_conversation_history: mostMessages, max_context_tokens: mostTokens, memory } = settings;
  const remembers = memory === 'automatic' && held.state.user_id !== undefined;
  const turn = newTurn(waiting, made);
  let settled = begun;
  for (let moved = 0; ; moved++) {
    try {
      const reply = replyTo(waiting, answerOf(turn));
      const written = {
        ...settled,
        turns: [turn],
        mostMessages,
        mostTokens,
        answered: waiting,
        reply,
        paused,
        remembers,
      };
      return (await commitTurns(service, held, written))[0]!;
    } catch (error) {
      if (!(error instanceof HeadMoved) || moved >= limits.raceAttempts) throw error;
      settled = (await readCurrentHead(service, held, tailTurns(mostMessages))) ?? lost(); // deleted meanwhile
    }
  }
}

const lost = (): never => {
  throw cleared();
};

function scopeOf({ held, waiting, tenant, paused }: TurnRun, signal: AbortSignal): SkillScope {
  const granted = paused ? paused.progress.granted : grantedTo(waiting);
  return {
    tenant_id: tenant.tenant_id,
    account_id: tenant.account_id,
    user_id: held.state.user_id,
    conversation_id: held.key.conversation_id,
    seq: held.state.last_seq + 1,
    signal,
    ...(granted !== undefined && { granted }),
  };
}

// For a burst with several tokens, the scopes that all of them have.
function grantedTo(waiting: readonly MessageItem[]): string | undefined {
  const [first, ...rest] = waiting.flatMap(one =>
    one.granted === undefined ? [] : [one.granted.split(' ')],
  );
  return first?.filter(name => rest.every(other => other.includes(name))).join(' ');
}

// Most turns have two messages. Reads a few more turns than needed; what does not fit is left out.
const tailTurns = (mostMessages: number): number => Math.ceil(mostMessages / 2) + 1;

function newTurn(waiting: readonly MessageItem[], made: Made): NewTurn {
  const asked = waiting.map((one): Message => ({ role: 'user', content: one.content ?? '' }));
  const { messages, ...rest } = made;
  return {
    ...rest,
    messages: JSON.stringify([...asked, ...messages]),
    message_ids: waiting.map(one => one.message_id),
  };
}

async function withDeadline<T>(
  service: Service,
  held: Held,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const late = new AbortController();
  service.clock.sleep(limits.stallMs, over.signal).then(
    () => late.abort(new Error(`The turn took longer than ${limits.stallMs} ms`)),
    () => {},
  );
  try {
    return await whileHeld(service, held, lost => work(AbortSignal.any([lost, late.signal])));
  } finally {
    over.abort('over');
  }
}
