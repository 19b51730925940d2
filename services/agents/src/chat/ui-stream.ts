import type { EventSink } from '@stak/http';
import type { showApproval } from '../approvals/views.ts';
import type { showReply } from '../conversations/views.ts';

// The stream protocol of the AI SDK's UI messages, for `useChat`: converts our events to its chunks.
// https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol

type Reply = ReturnType<typeof showReply>;
type Approvals = { approvals: ReturnType<typeof showApproval>[] };
type Event = { event?: string; data: unknown };

export const uiStreamHeader = ['x-vercel-ai-ui-message-stream', 'v1'] as const;

// The client has the message up to an approval. What follows is appended to it.
export type Continued = { messageId: string };

// A sink for followAnswer that writes chunks to the client's sink. The stream ends if the turn waits for an approval,
// because clients send that as a separate request.
export function uiSink(sink: EventSink, continued?: Continued): EventSink {
  const over = new AbortController();
  const translate = createTranslator(
    data => sink.send({ data }),
    () => over.abort('over'),
    continued,
  );
  return { ready: sink.ready, signal: AbortSignal.any([sink.signal, over.signal]), send: translate };
}

function createTranslator(
  send: (data: unknown) => void,
  stop: () => void,
  continued: Continued | undefined,
): (event: Event) => void {
  let isKnown = continued !== undefined; // skip what the client already has
  let isStep = false;
  const calls = new Set<string>(); // known to the client
  const denied = new Set<string>();
  let parts = 0; // of text
  let openText: string | undefined;
  let hasText = false;
  const openStep = () => {
    if (!isStep) send({ type: 'start-step' });
    isStep = true;
  };
  const finish = (finishReason: string, messageMetadata?: object) => {
    if (isStep) send({ type: 'finish-step' });
    send({ type: 'finish', finishReason, ...(messageMetadata && { messageMetadata }) });
    end();
  };
  const ask = ({ approvals }: Approvals) => {
    const ours = approvals.filter(approval => calls.has(approval.tool_call_id));
    for (const { status, approval_id: approvalId, tool_call_id: toolCallId, ...rest } of ours) {
      if (status !== 'waiting') continue;
      const approvalDescriptor = { approval: rest.approval, expires_at: rest.expires_at };
      send({ type: 'tool-approval-request', approvalId, toolCallId, approvalDescriptor });
    }
    if (ours.length === 0) send({ type: 'data-waiting', data: { approvals } }); // behind another turn
  };
  const decided = ({ approvals }: Approvals) => {
    for (const { status, tool_call_id: toolCallId } of approvals) {
      if (status === 'approved') continue;
      denied.add(toolCallId);
      send({ type: 'tool-output-denied', toolCallId });
    }
  };
  const closeText = () => {
    if (openText !== undefined) send({ type: 'text-end', id: openText });
    openText = undefined;
  };
  const say = (delta: string) => {
    hasText = true;
    openStep();
    if (openText === undefined) {
      openText = `text-${++parts}`;
      send({ type: 'text-start', id: openText });
    }
    send({ type: 'text-delta', id: openText, delta });
  };
  const end = () => {
    closeText();
    send('[DONE]');
  };
  return ({ event, data }) => {
    const fields = data as Record<string, unknown>;
    if (event === 'accepted') {
      send({ type: 'start', messageId: continued?.messageId ?? `${String(fields.message_id)}-reply` });
      if (!continued) openStep();
    } else if (event === 'waiting') {
      closeText();
      ask(data as Approvals);
      finish('tool-calls');
      stop();
    } else if (event === 'resumed') {
      isKnown = false;
      closeText();
      decided(data as Approvals);
    } else if (event === 'delta') {
      if (!isKnown) say(String(fields.text));
    } else if (event === 'skill') {
      closeText();
      const { tool_call_id: toolCallId, name: toolName, input } = fields;
      if (toolCallId === undefined) return; // from a process of the previous version
      calls.add(String(toolCallId));
      if (isKnown) return;
      openStep();
      send({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true });
    } else if (event === 'skill_result') {
      const { tool_call_id: toolCallId, output, error } = fields;
      if (isKnown || denied.has(String(toolCallId))) return;
      if (error === undefined) send({ type: 'tool-output-available', toolCallId, output, dynamic: true });
      else send({ type: 'tool-output-error', toolCallId, errorText: String(error), dynamic: true });
    } else if (event === 'restart') {
      // The protocol cannot retract anything, so this part marks everything before it as void.
      if (isKnown) return;
      closeText();
      hasText = false;
      send({ type: 'data-restart', data: {} });
    } else if (event === 'reply') {
      const { reply, routing, rule, skills, model, usage, cost_usd, seq, conversation_id } = data as Reply;
      if (!hasText) say(reply.content);
      closeText();
      finish('stop', { seq, routing, rule, skills, model, usage, cost_usd, conversation_id });
    } else if (event === 'error') {
      closeText();
      send({ type: 'error', errorText: String(fields.detail) });
      end();
    }
  };
}
