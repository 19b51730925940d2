import { z } from 'zod';
import { isFailure, isReply, type Outcome } from '../chat/outcome.ts';
import { showReply } from '../conversations/views.ts';
import { secondsOf } from '../deps.ts';
import { type Address, idOf, parseId } from '../state/answer-ids.ts';
import type { Message } from '../state/message-format.ts';
import { openCalls, parseMessages } from '../state/message-format.ts';
import type { TurnItem } from '../state/turn-items.ts';

const outputText = z.strictObject({
  type: z.literal('output_text').describe('Always `output_text`'),
  text: z.string().describe('The text'),
  annotations: z.array(z.unknown()).describe('Always empty'),
});
const itemStatus = z.enum(['in_progress', 'completed', 'incomplete']).describe('Whether the item is whole');
const itemId = z.string().describe('The id of the item');
const outputMessage = z.strictObject({
  type: z.literal('message').describe('A message'),
  id: itemId,
  status: itemStatus,
  role: z.literal('assistant').describe('Always `assistant`'),
  content: z.array(outputText).describe('The text of the answer'),
});
const functionCall = z.strictObject({
  type: z.literal('function_call').describe("A call of the caller's function"),
  id: itemId,
  status: itemStatus,
  call_id: z.string().describe('The id of the call, for its result'),
  name: z.string().describe('The name of the function'),
  arguments: z.string().describe('The arguments, as JSON'),
});
const approvalRequest = z.strictObject({
  type: z.literal('mcp_approval_request').describe('A call that waits for an approval'),
  id: z.string().describe('The id of an approval'),
  name: z.string().describe('The name of the skill'),
  arguments: z.string().describe('The arguments, as JSON'),
  server_label: z.string().describe('Always `agent`'),
});
export type OutputItem = z.infer<typeof outputMessage | typeof functionCall | typeof approvalRequest>;

const usage = z.strictObject({
  input_tokens: z.int().describe('Tokens of the prompt'),
  input_tokens_details: z
    .strictObject({ cached_tokens: z.int().describe('Always 0: it is not known') })
    .describe('Which tokens they were'),
  output_tokens: z.int().describe('Tokens of the answer'),
  output_tokens_details: z
    .strictObject({ reasoning_tokens: z.int().describe('Always 0: it is not known') })
    .describe('Which tokens they were'),
  total_tokens: z.int().describe('Both together'),
});
export const responseShape = z.strictObject({
  id: z.string().describe('The id of the response'),
  object: z.literal('response').describe('Always `response`'),
  created_at: z.int().describe('When it was answered, in seconds'),
  status: z
    .enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'])
    .describe('How far the response is'),
  background: z.boolean().describe('Whether it was asked for in the background'),
  error: z
    .strictObject({
      code: z.string().describe('The code of the error'),
      message: z.string().describe('What went wrong'),
    })
    .nullable()
    .describe('Why there is no answer'),
  incomplete_details: z
    .strictObject({ reason: z.enum(['max_output_tokens', 'content_filter']).describe('Why it ends early') })
    .nullable()
    .describe('Why the answer is not whole'),
  instructions: z.string().nullable().describe('As in the request'),
  max_output_tokens: z.int().nullable().describe('As in the request'),
  model: z.string().describe('The model that answered, or that was asked for'),
  output: z.array(z.union([outputMessage, functionCall, approvalRequest])).describe('The answer, in items'),
  parallel_tool_calls: z.boolean().describe('As in the request'),
  previous_response_id: z.string().nullable().describe('As in the request'),
  conversation: z
    .strictObject({ id: z.string().describe('The id of the conversation') })
    .describe('The conversation of the response'),
  store: z.boolean().describe('As in the request'),
  temperature: z.number().nullable().describe('As in the request'),
  top_p: z.number().nullable().describe('As in the request'),
  text: z.looseObject({}).describe('As in the request'),
  tool_choice: z.unknown().describe('As in the request'),
  tools: z.array(z.looseObject({})).describe('As in the request'),
  truncation: z.literal('auto').describe('Always `auto`'),
  metadata: z.record(z.string(), z.string()).describe('As in the request'),
  usage: usage.nullable().describe('The tokens that were used'),
});
export type ShownResponse = z.infer<typeof responseShape>;

// What a response repeats of its request. One that is read later says only what is stored with its turn.
export type Echo = Partial<
  Pick<
    ShownResponse,
    | 'background'
    | 'instructions'
    | 'max_output_tokens'
    | 'model'
    | 'parallel_tool_calls'
    | 'previous_response_id'
    | 'store'
    | 'temperature'
    | 'top_p'
    | 'text'
    | 'tool_choice'
    | 'tools'
    | 'metadata'
  >
>;

export const responsePrefix = 'resp_';
const messagePrefix = 'msg_';
const callPrefix = 'fc_';

export const messageItem = (address: Address, text: string, status: z.infer<typeof itemStatus>) => ({
  type: 'message' as const,
  id: idOf(messagePrefix, address),
  status,
  role: 'assistant' as const,
  content: status === 'in_progress' ? [] : [{ type: 'output_text' as const, text, annotations: [] }],
});

export function outputOf(address: Address, outcome: Outcome): OutputItem[] {
  if (!outcome || isFailure(outcome)) return [];
  if (!isReply(outcome))
    return outcome.approvals
      .filter(({ status }) => status === 'waiting')
      .map(({ approval_id: id, name, input }) => ({
        type: 'mcp_approval_request',
        id,
        name,
        arguments: JSON.stringify(input),
        server_label: 'agent',
      }));
  const { reply, tool_calls = [], finish_reason } = outcome;
  const said =
    reply.content === ''
      ? []
      : [messageItem(address, reply.content, finish_reason ? 'incomplete' : 'completed')];
  const calls = tool_calls.map(({ tool_call_id: call_id, name, input }, i) => ({
    type: 'function_call' as const,
    id: `${idOf(callPrefix, address)}.${i}`,
    status: 'completed' as const,
    call_id,
    name,
    arguments: JSON.stringify(input),
  }));
  return [...said, ...calls];
}

// What an item that is referred to was, in the turn that it is of.
export function parseItemId(id: string): { address: Omit<Address, 'tenant_id'>; call?: number } | undefined {
  const message = parseId(messagePrefix, id);
  if (message) return { address: message };
  const [whole = '', index = ''] = id.split('.');
  const call = parseId(callPrefix, whole);
  return call && /^\d{1,3}$/.test(index) ? { address: call, call: Number(index) } : undefined;
}

export function itemMessage(turn: TurnItem, call: number | undefined): Message | undefined {
  if (call === undefined)
    return { role: 'assistant', content: showReply(turn, turn.message_ids[0]!).reply.content };
  const found = openCalls(parseMessages(turn.messages))[call];
  if (!found) return undefined;
  const { tool_call_id: toolCallId, name: toolName, input } = found;
  return { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] };
}

export function showResponse(address: Address, echo: Echo, nowMs: number, outcome: Outcome): ShownResponse {
  const reply = isReply(outcome) ? outcome : undefined;
  const { input_tokens = 0, output_tokens = 0 } = reply?.usage ?? {};
  const finish = reply?.finish_reason;
  const reason = finish && (finish === 'length' ? ('max_output_tokens' as const) : finish);
  return {
    background: false,
    instructions: null,
    max_output_tokens: null,
    parallel_tool_calls: true,
    previous_response_id: null,
    store: true,
    temperature: null,
    top_p: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    metadata: {},
    ...echo,
    id: idOf(responsePrefix, address),
    object: 'response',
    created_at: secondsOf(nowMs),
    status: statusOf(outcome),
    error: isFailure(outcome) ? outcome : null,
    incomplete_details: reason ? { reason } : null,
    model: reply?.model ?? echo.model ?? 'default',
    output: outputOf(address, outcome),
    conversation: { id: address.conversation_id },
    truncation: 'auto',
    usage: reply
      ? {
          input_tokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: input_tokens + output_tokens,
        }
      : null,
  };
}

function statusOf(outcome: Outcome): ShownResponse['status'] {
  if (isFailure(outcome)) return 'failed';
  if (!isReply(outcome)) return 'in_progress'; // also until approvals are decided
  if (outcome.rule === 'cancelled') return 'cancelled';
  return outcome.finish_reason ? 'incomplete' : 'completed';
}
