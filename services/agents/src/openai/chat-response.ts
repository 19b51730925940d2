import type { EventSink } from '@stak/http';
import { z } from 'zod';
import { sayWaiting } from '../approvals/views.ts';
import { isWaiting, type Waiting } from '../chat/outcome.ts';
import { showReply } from '../conversations/views.ts';
import { secondsOf } from '../deps.ts';
import { approvalShape } from '../schema.ts';
import { type Address, idOf } from '../state/answer-ids.ts';
import type { OpenCall } from '../state/message-format.ts';
import type { TurnItem } from '../state/turn-items.ts';
import { showFailure } from './error-shape.ts';

const finishReason = z.enum(['stop', 'length', 'tool_calls', 'content_filter']);
const usage = z.strictObject({
  prompt_tokens: z.int().describe('Tokens of the prompt'),
  completion_tokens: z.int().describe('Tokens of the answer'),
  total_tokens: z.int().describe('Both together'),
});
const toolCall = z.strictObject({
  id: z.string().describe('The id of the call'),
  type: z.literal('function').describe('Always `function`'),
  function: z
    .strictObject({
      name: z.string().describe('The name of the function'),
      arguments: z.string().describe('The arguments, as JSON'),
    })
    .describe('The function that is called'),
});
const answerMessage = z.strictObject({
  role: z.literal('assistant').describe('Always `assistant`'),
  content: z.string().nullable().describe('The text of the answer; null if it only calls functions'),
  refusal: z.null().describe('Always null'),
  tool_calls: z.array(toolCall).optional().describe("Calls of the caller's functions"),
});
export const chatCompletion = z.strictObject({
  id: z.string().describe('The id of the completion'),
  object: z.literal('chat.completion').describe('Always `chat.completion`'),
  created: z.int().describe('When it was answered, in seconds'),
  model: z.string().describe('The model that answered; `default` if a rule did'),
  choices: z
    .array(
      z.strictObject({
        index: z.literal(0).describe('Always 0'),
        message: answerMessage.describe('The answer'),
        finish_reason: finishReason.describe('Why it ends'),
        logprobs: z.null().describe('Always null'),
      }),
    )
    .describe('One answer'),
  usage: usage.describe('The tokens that were used'),
  conversation_id: z.string().describe('The conversation of the answer'),
  message_id: z.string().describe('The id of the message that it answers'),
  approvals: z.array(approvalShape).optional().describe('The answer continues when these are decided'),
});

type Reply = ReturnType<typeof showReply>;
type Shown = z.infer<typeof chatCompletion>;

const toolCallOf = ({ tool_call_id, name, input }: OpenCall) => ({
  id: tool_call_id,
  type: 'function' as const,
  function: { name, arguments: JSON.stringify(input) },
});
const usageOf = ({ input_tokens, output_tokens }: Reply['usage']) => ({
  prompt_tokens: input_tokens,
  completion_tokens: output_tokens,
  total_tokens: input_tokens + output_tokens,
});
const finishOf = ({ tool_calls, finish_reason }: Pick<Reply, 'tool_calls' | 'finish_reason'>) =>
  tool_calls ? ('tool_calls' as const) : (finish_reason ?? ('stop' as const));

const sayApprovals = ({ approvals }: Waiting): string => sayWaiting(approvals);
const nothingUsed = { input_tokens: 0, output_tokens: 0 };
const prefix = 'chatcmpl-';

export function showCompletion(
  address: Address,
  asked: string,
  nowMs: number,
  answer: TurnItem | Waiting,
): Shown {
  const { conversation_id, message_id } = address;
  const reply = isWaiting(answer) ? undefined : showReply(answer, message_id);
  const content = isWaiting(answer) ? sayApprovals(answer) : reply!.reply.content;
  return {
    id: idOf(prefix, address),
    object: 'chat.completion',
    created: secondsOf(reply ? Date.parse(reply.created_at) : nowMs),
    model: reply?.model ?? asked,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: content === '' && reply?.tool_calls ? null : content,
          refusal: null,
          ...(reply?.tool_calls && { tool_calls: reply.tool_calls.map(toolCallOf) }),
        },
        finish_reason: reply ? finishOf(reply) : 'stop',
        logprobs: null,
      },
    ],
    usage: usageOf(reply?.usage ?? nothingUsed),
    conversation_id,
    message_id,
    ...(isWaiting(answer) && { approvals: answer.approvals }),
  };
}

type Event = { event?: string; data: unknown };
type Streamed = { address: Address; model: string; nowMs: number; includesUsage: boolean };

// A sink for followAnswer that sends chunks of a completion.
export function chunkSink(sink: EventSink, { address, model, nowMs, includesUsage }: Streamed): EventSink {
  const over = new AbortController();
  const id = idOf(prefix, address);
  const created = secondsOf(nowMs);
  let said = '';
  let isNextStep = false;
  const send = (choices: readonly object[], rest: object = {}) => {
    const chunk = { id, object: 'chat.completion.chunk', created, model, choices };
    sink.send({ data: { ...chunk, ...(includesUsage && { usage: null }), ...rest } });
  };
  const delta = (fields: object, finish_reason: string | null = null) =>
    send([{ index: 0, delta: fields, finish_reason, logprobs: null }]);
  const say = (text: string) => {
    const content = isNextStep && said !== '' ? `\n\n${text}` : text;
    isNextStep = false;
    said += content;
    delta({ content });
  };
  const end = () => {
    sink.send({ data: '[DONE]' });
    over.abort('over');
  };
  const finish = (reason: string, used: Reply['usage'], rest: object = {}) => {
    delta({}, reason);
    const { conversation_id, message_id } = address;
    if (includesUsage) send([], { usage: usageOf(used), conversation_id, message_id, ...rest });
    end();
  };
  // What was sent cannot be taken back, and two answers must not be mixed.
  const fail = (code: string, message: string) => {
    sink.send({ data: showFailure(code, message) });
    over.abort('over');
  };
  const translate = ({ event, data }: Event) => {
    const fields = data as Record<string, unknown>;
    if (over.signal.aborted) return;
    if (event === 'accepted') delta({ role: 'assistant', content: '' });
    else if (event === 'delta') say(String(fields.text));
    else if (event === 'skill') isNextStep = true;
    else if (event === 'waiting') {
      say(sayApprovals(data as Waiting));
      finish('stop', nothingUsed, { approvals: (data as Waiting).approvals });
    } else if (event === 'restart' && said !== '') fail('answer_restarted', restarted);
    else if (event === 'error') fail(String(fields.code), String(fields.detail));
    else if (event === 'reply') {
      const reply = data as Reply;
      if (said === '' && reply.reply.content !== '') say(reply.reply.content);
      if (reply.tool_calls)
        delta({ tool_calls: reply.tool_calls.map((call, index) => ({ index, ...toolCallOf(call) })) });
      finish(finishOf(reply), reply.usage);
    }
  };
  return { ready: sink.ready, signal: AbortSignal.any([sink.signal, over.signal]), send: translate };
}

export const restarted =
  'The model failed in the middle of its answer, and another attempt follows. Repeat the request, with the same Idempotency-Key if it had one.';
