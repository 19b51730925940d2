import { inSpan } from '@stak/kit';
import { isUnavailable, retryWhileLeased } from '@stak/table';
import { type AgentRef, agentOf, refOf } from '../agents/current.ts';
import type { Values } from '../agents/definition.ts';
import { pauseTurn } from '../approvals/paused-turn.ts';
import { runCalls } from '../approvals/run-calls.ts';
import { replayEvents, sayWaiting, showApproval } from '../approvals/views.ts';
import { replyTo } from '../channels/send-reply.ts';
import { commitTurns, HeadMoved } from '../conversations/commit-turn.ts';
import { type CurrentHead, readCurrentHead, restartConversation } from '../conversations/external-writes.ts';
import { answerOf, showReply } from '../conversations/views.ts';
import type { Base, EnteredTenant, Service, StateDeps, TurnDeps } from '../deps.ts';
import { AnswerCancelled, cleared, isCleared } from '../errors.ts';
import * as limits from '../limits.ts';
import { createTurnSpend } from '../models/budget.ts';
import { defaultAgent, readAgentSettings } from '../settings.ts';
import { enabledSkills } from '../skills/enabled-skills.ts';
import { reservedNames } from '../skills/reserved-names.ts';
import type { Skill, SkillScope } from '../skills/skill.ts';
import { turnPrincipal } from '../state/access.ts';
import { inputOf, optionsOf } from '../state/answer-options.ts';
import { type ConversationLease, type StateItem, whileHeld } from '../state/lease.ts';
import type { ApprovalItem, Progress } from '../state/paused.ts';
import { type MessageItem, type NewTurn, plainTurn, type TurnItem } from '../state/turn-items.ts';
import type { Live } from '../streaming/live-answers.ts';
import { isCancelled, watchCancelled } from './cancel.ts';
import { makeReply, type ReplyDraft, stopReply } from './reply.ts';
import { countHandOffs, handedTo, teamSkills } from './team-skills.ts';

export type TurnRun = {
  held: ConversationLease;
  waiting: readonly MessageItem[];
  tenant: EnteredTenant;
  paused?: { progress: Progress; approvals: readonly ApprovalItem[] }; // where it resumes
  isLast?: boolean; // no further attempt follows
  isAwaited?: boolean; // the sender of one of the messages waits, and gets the error if there is no answer
};

// An answer that was made, and paid for, but that the store could not take before the turn had to end.
export type UnsavedAnswer = {
  readonly epoch: number;
  readonly seq: number;
  readonly message_ids: readonly string[];
  readonly progress: Progress | undefined;
  readonly made: ReplyDraft;
};

// Answers all waiting messages under the lease, and commits once. Returns undefined, with the lease released, if an
// approval is needed first. Rejects if there is no answer; the messages then still wait.
export async function runTurn(service: TurnDeps, run: TurnRun): Promise<TurnItem | undefined> {
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
  service: TurnDeps,
  run: TurnRun,
  live: Live,
  signal: AbortSignal,
): Promise<TurnItem | undefined> {
  const { held, waiting, isLast, isAwaited } = run;
  const { max_conversation_history: mostMessages } = run.tenant.settings;
  const { approval_hours: hours } = readAgentSettings(run.tenant.settings);
  let { progress, approvals = [] } = run.paused ?? {};
  let tenant = await agentOf(service, run.tenant, progress ?? held.state); // as the agent that answers
  const settled = await settleHead(service, held, waiting, mostMessages);
  const replaced = findReplaced(service, run, settled);
  const tail = replaced ? settled.tail.slice(0, -1) : settled.tail;
  const scope = scopeOf(run, signal, replaced);
  const enter = () =>
    service.enterTenant(turnPrincipal(run.tenant.tenant_id, scope.user_id), run.tenant.tenant_id);
  // As it is now: a skill that the agent has lost since the turn began is not called.
  const refresh = async () => agentOf(service, await enter(), currentOf(tenant, held));
  const [said, message_ids] = [waiting.flatMap(inputOf), waiting.map(one => one.message_id)];
  const followHandOff = async (done: Progress) => {
    const agent = handedTo(done);
    if (agent !== undefined) tenant = await agentOf(service, run.tenant, { agent });
  };
  const unsaved = takeUnsaved(service, run);
  if (unsaved) {
    const answered = waiting.filter(one => unsaved.message_ids.includes(one.message_id));
    const { made, progress } = unsaved;
    if (progress) await followHandOff(progress);
    return commit(service, { ...run, tenant, waiting: answered }, settled, made, progress, signal);
  }
  let stored = progress; // as far as the store knows
  const stop = (asked: Progress | undefined) =>
    commit(service, { ...run, tenant }, settled, stopReply(asked), stored, signal);
  const spend = createTurnSpend();
  const about = { channel: held.state.channel, variables: readVariables(held.state), spend };
  if (waiting.some(isCancelled)) {
    if (progress) await followHandOff(progress);
    return stop(progress);
  }
  for (;;) {
    const skillsNow = async () => {
      const current = progress ? await refresh() : tenant;
      const team = { ...about, tenant: current, refresh: enter, handOffs: countHandOffs(progress) };
      return withTeam(await enabledSkills(service, current), await teamSkills(service, team));
    };
    let skills = await skillsNow();
    const emit = live.push;
    if (progress) {
      progress = await runCalls(service, { held, progress, approvals, skills, scope, emit });
      const before = tenant;
      await followHandOff(progress);
      if (tenant !== before) skills = await skillsNow();
    }
    const asked = {
      ...{ tenant, refresh, said, message_ids, tail, skills, scope, progress, emit },
      ...about,
      ...{ isLast, isAwaited, options: optionsOf(waiting[0]!) },
      watchCancelled: () => watchCancelled(service, waiting),
    };
    const made = await makeReply(service, asked);
    if ('messages' in made) return commit(service, { ...run, tenant }, settled, made, progress, signal);
    progress = { ...made.progress, ...refOf(tenant) };
    const reply = replyTo(waiting, sayWaiting(progress.calls), progress.turn_id);
    const needsApproval = progress.calls.some(({ approval_id }) => approval_id !== undefined);
    try {
      approvals = await pauseTurn(service, held, progress, { hours, ...(needsApproval && { reply }) });
      stored = progress;
    } catch (error) {
      if (!(error instanceof AnswerCancelled)) throw error;
      return stop(progress);
    }
    if (needsApproval) {
      live.push({ event: 'waiting', data: { approvals: approvals.map(showApproval) } });
      return undefined;
    }
  }
}

// The agent whose skills count: that of the conversation in the version that it stays with, or the published one.
function currentOf(tenant: EnteredTenant, { state }: ConversationLease): AgentRef {
  const { agent } = refOf(tenant);
  return agent === undefined || agent !== state.agent ? { agent } : state;
}

// A skill of agents takes the place of one of the tenant with its name, from before it was reserved.
const withTeam = (skills: readonly Skill[], team: readonly Skill[]): Skill[] => [
  ...skills.filter(({ name }) => !reservedNames.has(name)),
  ...team,
];

const readVariables = ({ variables }: StateItem): Values =>
  variables === undefined ? {} : (JSON.parse(variables) as Values);

async function settleHead(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  held: ConversationLease,
  waiting: readonly MessageItem[],
  mostMessages: number,
): Promise<CurrentHead> {
  const settled = await readCurrentHead(service, held, tailTurns(mostMessages));
  if (settled) return settled;
  await restartConversation(service, held, waiting[0]?.channel);
  return (await readCurrentHead(service, held, 0)) ?? lost();
}

async function commit(
  service: StateDeps & Pick<Service, 'store' | 'clock' | 'skills' | 'unsavedAnswers'>,
  run: TurnRun,
  begun: CurrentHead,
  made: ReplyDraft,
  paused: Progress | undefined,
  signal: AbortSignal,
): Promise<TurnItem> {
  const { held, waiting, tenant } = run;
  const settings = readAgentSettings(tenant.settings);
  const { max_conversation_history: mostMessages, max_context_tokens: mostTokens, memory } = settings;
  const { user_id, is_temporary } = held.state;
  const remembers = memory === 'automatic' && user_id !== undefined && !is_temporary;
  const { agent: before = defaultAgent } = held.state;
  const { name } = settings.profile;
  const handed = countHandOffs(paused) > 0 && name !== before ? { handed_from: before } : {};
  let settled = begun;
  for (let moved = 0; ; moved++) {
    try {
      const replaced = findReplaced(service, run, settled);
      const turn = { ...newTurn(waiting, made, replaced, paused?.turn_id), ...refOf(tenant), ...handed };
      const reply = replyTo(waiting, answerOf(turn));
      const written = {
        head: settled.head,
        tail: replaced ? settled.tail.slice(0, -1) : settled.tail,
        replacesLast: replaced !== undefined,
        turns: [turn],
        mostMessages,
        mostTokens,
        answered: waiting,
        reply,
        paused,
        cancels: run.paused?.approvals,
        remembers,
        ...('handed_from' in handed && { agent: name }),
      };
      return await commitPatiently(service, held, written, signal);
    } catch (error) {
      const message_ids = waiting.map(one => one.message_id);
      if (isUnavailable(error)) keepUnsaved(service, held, { message_ids, made, progress: paused });
      if (!(error instanceof HeadMoved) || moved >= limits.raceAttempts) throw error;
      settled = (await readCurrentHead(service, held, tailTurns(mostMessages))) ?? lost(); // deleted meanwhile
    }
  }
}

// The last turn, if its question is asked again to replace the answer. One that called skills which act stays: what they
// did was done.
function findReplaced(
  { skills }: Pick<Service, 'skills'>,
  { held, waiting }: TurnRun,
  { tail }: CurrentHead,
): TurnItem | undefined {
  const [question, ...others] = waiting;
  const last = tail.at(-1);
  const { epoch, last_seq } = held.state;
  if (!question?.regenerates || others.length > 0 || last?.seq !== last_seq || last.epoch !== epoch)
    return undefined;
  const asked = plainTurn(last).filter(({ role }) => role === 'user');
  if (asked.length !== 1 || asked[0]!.content !== question.content) return undefined;
  const reads = new Set(skills.filter(({ acts }) => !acts).map(({ name }) => name));
  return (last.skills ?? []).every(name => reads.has(name)) ? last : undefined;
}

const nameOf = ({ key }: ConversationLease): string => `${key.tenant_id}#${key.conversation_id}`;

function keepUnsaved(
  { unsavedAnswers }: Pick<Service, 'unsavedAnswers'>,
  held: ConversationLease,
  made: Omit<UnsavedAnswer, 'epoch' | 'seq'>,
): void {
  const { epoch, last_seq: seq } = held.state;
  unsavedAnswers.set(nameOf(held), { ...made, epoch, seq });
}

// Of the same turn, in the same state of the conversation.
function takeUnsaved(
  { unsavedAnswers }: Pick<Service, 'unsavedAnswers'>,
  { held, waiting, paused }: TurnRun,
): UnsavedAnswer | undefined {
  const found = unsavedAnswers.get(nameOf(held));
  if (!found) return undefined;
  unsavedAnswers.delete(nameOf(held));
  const ids = new Set(waiting.map(one => one.message_id));
  const { epoch, last_seq } = held.state;
  const isSame =
    found.epoch === epoch && found.seq === last_seq && found.progress?.turn_id === paused?.progress.turn_id;
  return isSame && found.message_ids.every(id => ids.has(id)) ? found : undefined;
}

// The model is paid for: a store that is too busy for the answer is asked again while the lease holds. Without a response
// it may have been written; then the lease is gone, and the message has its answer.
async function commitPatiently(
  service: StateDeps & Pick<Service, 'store' | 'clock'>,
  held: ConversationLease,
  written: Parameters<typeof commitTurns>[2],
  signal: AbortSignal,
): Promise<TurnItem> {
  let unanswered: unknown;
  const commitOnce = () =>
    commitTurns(service, held, written).catch(error => {
      if (isUnavailable(error)) unanswered = error;
      throw error;
    });
  const untilMs = () => held.state.leased_until ?? 0;
  try {
    return (await retryWhileLeased(commitOnce, { clock: service.clock, untilMs, signal }))[0]!;
  } catch (error) {
    throw unanswered !== undefined && isCleared(error) ? unanswered : error;
  }
}

const lost = (): never => {
  throw cleared();
};

function scopeOf(
  { held, waiting, tenant, paused }: TurnRun,
  signal: AbortSignal,
  replaced: TurnItem | undefined,
): SkillScope {
  const granted = paused ? paused.progress.granted : grantedTo(waiting);
  return {
    tenant_id: tenant.tenant_id,
    account_id: tenant.account_id,
    user_id: held.state.user_id,
    conversation_id: held.key.conversation_id,
    seq: replaced?.seq ?? held.state.last_seq + 1,
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

function newTurn(
  waiting: readonly MessageItem[],
  made: ReplyDraft,
  replaced: TurnItem | undefined,
  turn_id: string | undefined,
): NewTurn {
  const asked = waiting.flatMap(inputOf);
  const { messages, ...rest } = made;
  return {
    ...rest,
    ...(turn_id !== undefined && { turn_id }),
    messages: JSON.stringify([...asked, ...messages]),
    // Also of the messages whose answer it replaces.
    message_ids: [...waiting.map(one => one.message_id), ...(replaced?.message_ids ?? [])].slice(
      0,
      limits.waitingMessages,
    ),
  };
}

async function withDeadline<T>(
  service: Base & Pick<Service, 'dueShards'>,
  held: ConversationLease,
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
