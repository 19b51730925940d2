import type { ApprovalItem, PendingCall, Progress } from '../state/paused.ts';
import type { LiveEvent } from '../streaming/live-answers.ts';

export const showApproval = (item: ApprovalItem) => ({
  approval_id: item.approval_id,
  conversation_id: item.conversation_id,
  message_id: item.message_id,
  user_id: item.user_id ?? null,
  tool_call_id: item.tool_call_id,
  name: item.name,
  input: JSON.parse(item.input) as unknown,
  approval: item.approval,
  status: item.status,
  created_at: item.created_at,
  expires_at: item.expires_at,
  decided_at: item.decided_at ?? null,
  decided_by: item.decided_by ?? null,
  reason: item.reason ?? null,
});

// For a channel without buttons.
export const sayWaiting = (calls: readonly Pick<PendingCall, 'approval_id' | 'name' | 'input'>[]): string =>
  [
    'This needs an approval first:',
    ...calls
      .filter(({ approval_id }) => approval_id !== undefined)
      .map(({ name, input }) => `- ${name} ${JSON.stringify(input)}`),
  ].join('\n');

// The events before the turn was paused, for clients that follow it from here on. Ends with the decisions, unless it
// still waits.
export function replayEvents(
  { messages, calls, routing }: Progress,
  approvals: readonly ApprovalItem[],
): LiveEvent[] {
  const events: LiveEvent[] = [];
  for (const { role, content } of messages) {
    if (typeof content === 'string') {
      if (role === 'assistant' && content !== '') events.push({ event: 'delta', data: { text: content } });
      continue;
    }
    for (const part of content) {
      if (part.type === 'text' && part.text !== '')
        events.push({ event: 'delta', data: { text: part.text } });
      else if (part.type === 'tool-call') events.push(called(part.toolCallId, part.toolName, part.input));
      else if (part.type === 'tool-result') {
        const { toolCallId: tool_call_id, toolName: name, output } = part;
        events.push({ event: 'skill_result', data: { name, tool_call_id, output: output.value } });
      }
    }
  }
  if (routing === 'rule')
    for (const { tool_call_id, name, input } of calls) events.push(called(tool_call_id, name, input));
  const isWaiting = approvals.some(({ status }) => status === 'waiting');
  if (isWaiting) events.push({ event: 'waiting', data: { approvals: approvals.map(showApproval) } });
  else events.push({ event: 'resumed', data: { approvals: approvals.map(showApproval) } });
  return events;
}

const called = (tool_call_id: string, name: string, input: unknown): LiveEvent => ({
  event: 'skill',
  data: { name, tool_call_id, input },
});
