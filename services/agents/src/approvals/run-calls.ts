import { isDeepStrictEqual } from 'node:util';
import type { Service } from '../deps.ts';
import { executeSkill, sayFailed } from '../skills/run-skill.ts';
import type { Skill, SkillScope } from '../skills/skill.ts';
import type { ConversationLease } from '../state/lease.ts';
import type { Message, Part } from '../state/message-format.ts';
import type { ApprovalItem, PendingCall, Progress } from '../state/paused.ts';
import type { LiveEvent } from '../streaming/live-answers.ts';
import { saveCalls } from './paused-turn.ts';

type Running = {
  held: ConversationLease;
  progress: Progress;
  approvals: readonly ApprovalItem[];
  skills: readonly Skill[]; // enabled now
  scope: SkillScope;
  emit(event: LiveEvent): void;
};

type Result = NonNullable<PendingCall['result']>;

// Makes the approved calls, one after the other, and stores the result of each before the next one. If a process dies
// during a call, the call is repeated with the same key, unless it must not be made twice.
export async function runCalls(
  service: Pick<Service, 'store' | 'clock'>,
  running: Running,
): Promise<Progress> {
  const { held, emit } = running;
  let { progress } = running;
  const update = async (i: number, change: Partial<PendingCall>) => {
    progress = {
      ...progress,
      calls: progress.calls.map((call, at) => (at === i ? { ...call, ...change } : call)),
    };
    await saveCalls(service, held, progress);
  };
  for (const [i, call] of progress.calls.entries()) {
    if (call.result) continue;
    const skill = running.skills.find(({ name }) => name === call.name);
    const refusal = refusalOf(call, running.approvals, skill);
    let result: Result;
    if (refusal !== undefined) result = failed(refusal, sayRefused(call.name, refusal));
    else if (skill!.isRepeatable === false && call.is_started)
      result = failed(unknown, sayFailed(call.name, unknown));
    else {
      if (skill!.isRepeatable === false) await update(i, { is_started: true });
      result = await run(service, running, skill!, call);
    }
    const { name, tool_call_id } = call;
    const shown = result.is_error ? { error: errorOf(result) } : { output: result.output };
    await update(i, { result });
    emit({ event: 'skill_result', data: { name, tool_call_id, ...shown } });
  }
  return progress;
}

const unknown = 'it is not known whether it was done; it was not tried again';

async function run(
  service: Pick<Service, 'clock'>,
  { progress, scope }: Running,
  skill: Skill,
  call: PendingCall,
): Promise<Result> {
  const { input, name } = call;
  const idempotency_key = `${progress.turn_id}.${findUnknown(progress, call) ?? call.tool_call_id}`;
  const outcome = await executeSkill(service.clock, skill, input, { ...scope, idempotency_key });
  scope.signal.throwIfAborted(); // the lease is lost: the next holder finds out the result
  if (!outcome.ok) return failed(outcome.reason, sayFailed(name, outcome.reason), outcome.isUnknown);
  return { output: outcome.result.data ?? null, text: outcome.result.text };
}

// A model may repeat a call whose outcome is unknown. Until one of them is known to be done, the repeated call has the
// key of the first one. Returns the id of that one.
function findUnknown({ messages }: Progress, { name, input }: PendingCall): string | undefined {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  const same = new Set<string>();
  let unknown: string | undefined;
  for (const part of parts) {
    if (part.type === 'tool-call' && part.toolName === name && isDeepStrictEqual(part.input, input))
      same.add(part.toolCallId);
    if (part.type !== 'tool-result' || !same.has(part.toolCallId)) continue;
    const { error, outcome } = Object(part.output.value) as { error?: unknown; outcome?: unknown };
    if (outcome === 'unknown') unknown ??= part.toolCallId;
    else if (error === undefined) unknown = undefined;
  }
  return unknown;
}

const failed = (reason: string, text: string, isUnknown = false): Result => ({
  output: { error: reason, ...(isUnknown && { outcome: 'unknown' }) },
  text,
  is_error: true,
});
const errorOf = ({ output }: Result): string => String(Object(output).error);
const sayRefused = (name: string, reason: string): string => `${name} was not done: ${reason}.`;

// Why a call is not made.
function refusalOf(
  call: PendingCall,
  approvals: readonly ApprovalItem[],
  skill: Skill | undefined,
): string | undefined {
  if (call.refused !== undefined) return call.refused;
  if (!skill) return 'this skill is not enabled';
  if (call.approval_id === undefined) return undefined;
  const decided = approvals.find(({ approval_id }) => approval_id === call.approval_id);
  if (decided?.status === 'approved') return undefined;
  if (decided?.status === 'refused') return decided.reason ? `refused: ${decided.reason}` : 'it was refused';
  return 'the approval expired';
}

export const sayResults = (calls: readonly PendingCall[]): string =>
  calls.map(({ result }) => result?.text ?? '').join('\n') || 'Done.';

// Writes what the model continues from: its calls and their results, those of one step in one message.
export function messagesWithResults({ messages, calls }: Progress): Message[] {
  const results = calls.map(
    ({ tool_call_id, name, result }): Part => ({
      type: 'tool-result',
      toolCallId: tool_call_id,
      toolName: name,
      output: { type: 'json', value: result?.output ?? null },
    }),
  );
  const last = messages.at(-1);
  if (last?.role !== 'tool') return [...messages, { role: 'tool', content: results }];
  return [...messages.slice(0, -1), { role: 'tool', content: [...last.content, ...results] }];
}
