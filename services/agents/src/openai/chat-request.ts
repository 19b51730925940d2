import { z } from 'zod';
import * as limits from '../limits.ts';
import * as agents from '../schema.ts';
import type { Message, Part } from '../state/message-format.ts';
import type { Ask } from './ask.ts';
import { refuseField } from './error-shape.ts';
import * as common from './schema.ts';

// https://platform.openai.com/docs/api-reference/chat/create

const text = z.string().max(limits.messageBodyBytes);
const { content } = common;

const toolCall = z.looseObject({
  id: z.string().min(1).max(200).describe('The id of the call'),
  type: z.literal('function').describe('Always `function`'),
  function: z
    .looseObject({
      name: z.string().max(200).describe('The name of the function'),
      arguments: text.describe('The arguments, as JSON'),
    })
    .describe('The function that is called'),
});
const said = content.describe('The text of the message, or its parts');
const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.enum(['system', 'developer']).describe('Instructions, for hosts only'),
    content: said,
  }),
  z.strictObject({ role: z.literal('user').describe('Who wrote the message'), content: said }),
  // As it was answered, with whatever else a client keeps of an answer.
  z.looseObject({
    role: z.literal('assistant').describe('An answer that is sent back'),
    content: said.nullish(),
    tool_calls: z
      .array(toolCall)
      .max(limits.callersTools)
      .nullish()
      .describe("Calls of the caller's functions that the answer ended with"),
  }),
  z.strictObject({
    role: z.literal('tool').describe('The result of a call'),
    tool_call_id: z.string().max(200).describe('The id of the call'),
    content: said,
  }),
]);

const tool = z.strictObject({
  type: z.literal('function').describe('Always `function`'),
  function: common.functionTool.describe('The function that the model may call'),
});
const toolChoice = z.union([
  common.anyToolChoice,
  z.strictObject({
    type: z.literal('function').describe('Always `function`'),
    function: z
      .strictObject({ name: z.string().max(64).describe('The name of the function') })
      .describe('The function that has to be called'),
  }),
]);
const format = z.discriminatedUnion('type', [
  common.textFormat,
  common.jsonFormat,
  z.strictObject({
    type: z.literal('json_schema').describe('JSON of a schema'),
    json_schema: common.formatSchema.describe('The schema of the answer'),
  }),
]);

export const chatRequest = z.strictObject({
  ...common.commonFields,
  messages: z
    .array(message)
    .min(1)
    .max(limits.importMessages)
    .describe('The conversation, oldest first, with what is to be answered at its end'),
  max_tokens: common.maxTokens,
  max_completion_tokens: common.maxTokens,
  stop: z
    .union([z.string().max(limits.stopChars), z.array(z.string().max(limits.stopChars)).max(4)])
    .nullish()
    .describe('Texts before which the answer ends'),
  seed: z.int().nullish().describe('The same seed makes the same answer likely'),
  presence_penalty: z.number().min(-2).max(2).nullish().describe('How much words that were used are avoided'),
  frequency_penalty: z
    .number()
    .min(-2)
    .max(2)
    .nullish()
    .describe('How much words that are frequent are avoided'),
  tools: common.tools(tool),
  tool_choice: toolChoice.nullish().describe('Whether functions may, must or must not be called'),
  response_format: format.nullish().describe('What the answer has to look like'),
  stream_options: z
    .strictObject({
      include_usage: z.boolean().nullish().describe('Whether the last chunk has the tokens that were used'),
      include_obfuscation: z.boolean().nullish().describe('Changes nothing'),
    })
    .nullish()
    .describe('What is sent with a stream'),
  n: z.literal(1).nullish().describe('There is one answer'),
  logprobs: z.literal(false).nullish().describe('Logarithms of probabilities are not given'),
  modalities: z
    .tuple([z.literal('text')])
    .nullish()
    .describe('Answers are texts'),
});
export type ChatRequest = z.infer<typeof chatRequest>;

export function readChat(
  body: ChatRequest,
): Pick<Ask, 'messages' | 'options' | 'conversation_id' | 'isKept'> {
  const instructions = body.messages
    .flatMap((one, i) =>
      one.role === 'system' || one.role === 'developer'
        ? [common.readText(one.content, ['messages', i, 'content'])]
        : [],
    )
    .join('\n\n');
  const format = body.response_format;
  const most = body.max_completion_tokens ?? body.max_tokens;
  return {
    messages: body.messages.flatMap(readMessage),
    conversation_id: readConversationId(body.metadata),
    isKept: body.store === true,
    options: {
      ...(instructions !== '' && { instructions }),
      ...common.readTools(body.tools?.map(one => one.function) ?? [], body.tool_choice),
      ...(body.parallel_tool_calls === false && body.tools?.length && { isOneCall: true }),
      ...common.readFormat(
        format?.type === 'json_schema' ? { type: 'json_schema', ...format.json_schema } : format,
      ),
      ...(most != null && { maxOutputTokens: most }),
      ...common.readSampling(body),
    },
  };
}

export function readConversationId(metadata: Readonly<Record<string, string>> | null | undefined) {
  const { conversation_id } = metadata ?? {};
  if (conversation_id === undefined || agents.conversationId.safeParse(conversation_id).success)
    return conversation_id;
  return refuseField(
    ['metadata', 'conversation_id'],
    `At most ${limits.conversationIdChars} letters, digits and . _ : @ | + = ~ -`,
  );
}

function readMessage(one: ChatRequest['messages'][number], i: number): Message[] {
  const path = ['messages', i, 'content'];
  if (one.role === 'user') return [{ role: 'user', content: common.readText(one.content, path) }];
  if (one.role === 'tool') {
    const value = common.readText(one.content, path);
    return [{ role: 'tool', content: [toolResult(one.tool_call_id, value)] }];
  }
  if (one.role !== 'assistant') return [];
  const said = common.readText(one.content ?? '', path);
  const calls = (one.tool_calls ?? []).map(
    (call, at): Part => ({
      type: 'tool-call',
      toolCallId: call.id,
      toolName: call.function.name,
      input: common.readArguments(call.function.arguments, ['messages', i, 'tool_calls', at]),
    }),
  );
  if (calls.length === 0) return [{ role: 'assistant', content: said }];
  const content: Part[] = [...(said === '' ? [] : [{ type: 'text' as const, text: said }]), ...calls];
  return [{ role: 'assistant', content }];
}

// Its tool is named when it is known which call it answers.
export const toolResult = (toolCallId: string, value: string): Part => ({
  type: 'tool-result',
  toolCallId,
  toolName: '',
  output: { type: 'text', value },
});
