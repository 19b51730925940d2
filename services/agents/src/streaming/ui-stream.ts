import type { EventSink } from '@stak/http';
import type { showReply } from '../conversations/views.ts';

// The stream protocol of the AI SDK's UI messages, for `useChat`: what our own events say, as its chunks.
// https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol

type Reply = ReturnType<typeof showReply>;
type Event = { event?: string; data: unknown };

export const uiStreamHeader = ['x-vercel-ai-ui-message-stream', 'v1'] as const;

// A sink for followAnswer that writes chunks to the client's.
export function uiSink(sink: EventSink): EventSink {
  const translate = createTranslator(data => sink.send({ data }));
  return { ready: sink.ready, signal: sink.signal, send: translate };
}

function createTranslator(send: (data: unknown) => void): (event: Event) => void {
  let parts = 0; // of text
  let openText: string | undefined;
  let hasText = false;
  const closeText = () => {
    if (openText !== undefined) send({ type: 'text-end', id: openText });
    openText = undefined;
  };
  const say = (delta: string) => {
    hasText = true;
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
      send({ type: 'start', messageId: `${String(fields.message_id)}-reply` });
      send({ type: 'start-step' });
    } else if (event === 'delta') say(String(fields.text));
    else if (event === 'skill') {
      closeText();
      const { tool_call_id: toolCallId, name: toolName, input } = fields;
      if (toolCallId === undefined) return; // of a process of the version before
      send({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true });
    } else if (event === 'skill_result') {
      const { tool_call_id: toolCallId, output, error } = fields;
      if (error === undefined) send({ type: 'tool-output-available', toolCallId, output, dynamic: true });
      else send({ type: 'tool-output-error', toolCallId, errorText: String(error), dynamic: true });
    } else if (event === 'restart') {
      // The protocol takes nothing back: what came before this part is void.
      closeText();
      hasText = false;
      send({ type: 'data-restart', data: {} });
    } else if (event === 'reply') {
      const { reply, routing, rule, skills, model, usage, cost_usd, seq } = data as Reply;
      if (!hasText) say(reply.content);
      closeText();
      send({ type: 'finish-step' });
      const messageMetadata = { seq, routing, rule, skills, model, usage, cost_usd };
      send({ type: 'finish', finishReason: 'stop', messageMetadata });
      end();
    } else if (event === 'error') {
      closeText();
      send({ type: 'error', errorText: String(fields.detail) });
      end();
    }
  };
}
