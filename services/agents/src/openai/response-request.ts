import { z } from 'zod';
import * as limits from '../limits.ts';
import * as agents from '../schema.ts';
import type { Message, Part } from '../state/message-format.ts';
import type { Ask } from './ask.ts';
import { readConversationId, toolResult } from './chat-request.ts';
import { refuseField } from './error-shape.ts';
import * as common from './schema.ts';

// https://platform.openai.com/docs/api-reference/responses/create

const text = z.string().max(limits.messageBodyBytes);
const status = z.enum(['in_progress', 'completed', 'incomplete']).nullish().describe('Changes nothing');
const callId = z.string().min(1).max(200).describe('The id of the call');
const itemId = z.string().max(400);

// Items as they were answered come back with the fields that they had.
const message = z.looseObject({
  type: z.literal('message').optional().describe('A message'),
  role: z.enum(['user', 'assistant', 'system', 'developer']).describe('Who wrote the message'),
  content: common.content.describe('The text of the message, or its parts'),
  status,
});
const call = z.looseObject({
  type: z.literal('function_call').describe('A call that a response ended with'),
  call_id: callId,
  name: z.string().max(200).describe('The name of the function'),
  arguments: text.describe('The arguments, as JSON'),
  status,
});
const callOutput = z.strictObject({
  type: z.literal('function_call_output').describe('The result of a call'),
  id: itemId.nullish().describe('The id of the item'),
  call_id: callId,
  output: common.content.describe('The result, as a text or its parts'),
  status,
});
const reference = z.strictObject({
  type: z.literal('item_reference').describe('An item of an earlier response'),
  id: itemId.describe('The id of the item'),
});
const item = z.union([call, callOutput, reference, message]);

// By its type first, so that a tool of OpenAI's own is refused for that.
const tool = z.discriminatedUnion('type', [
  common.functionTool.extend({ type: z.literal('function').describe('Always `function`') }),
]);
const toolChoice = z.union([
  common.anyToolChoice,
  z.strictObject({
    type: z.literal('function').describe('Always `function`'),
    name: z.string().max(64).describe('The function that has to be called'),
  }),
]);
const format = z.discriminatedUnion('type', [
  common.textFormat,
  common.jsonFormat,
  common.formatSchema.extend({ type: z.literal('json_schema').describe('JSON of a schema') }),
]);

export const responseRequest = z.strictObject({
  ...common.commonFields,
  input: z
    .union([text, z.array(item).min(1).max(limits.importMessages)])
    .describe('What is to be answered: a text, or items of the conversation, oldest first'),
  instructions: text.nullish().describe('Instructions beside those of the tenant, for hosts only'),
  previous_response_id: itemId.nullish().describe('The newest response of its conversation, to continue it'),
  conversation: z
    .union([agents.conversationId, z.strictObject({ id: agents.conversationId })])
    .nullish()
    .describe('A conversation to continue, or to begin'),
  max_output_tokens: common.maxTokens,
  tools: common.tools(tool),
  tool_choice: toolChoice.nullish().describe('Whether functions may, must or must not be called'),
  text: z
    .strictObject({ format: format.nullish().describe('What the text has to look like') })
    .nullish()
    .describe('How the answer is written'),
  truncation: z.enum(['auto', 'disabled']).nullish().describe('The window of the tenant applies in any case'),
  include: z.array(z.literal('reasoning.encrypted_content')).max(1).nullish().describe('Adds nothing'),
  stream_options: z
    .strictObject({ include_obfuscation: z.boolean().nullish().describe('Changes nothing') })
    .nullish()
    .describe('What is sent with a stream'),
  background: z
    .boolean()
    .nullish()
    .describe('Returns at once; the response is read, or cancelled, by its id'),
});
export type ResponseRequest = z.infer<typeof responseRequest>;
type Item = z.infer<typeof item>;

// What an item that was answered here is, by its id.
export type ReadItem = (id: string) => Promise<Message | undefined>;

export async function readResponse(
  body: ResponseRequest,
  readItem: ReadItem,
): Promise<Pick<Ask, 'messages' | 'options' | 'conversation_id' | 'isKept'>> {
  const items: Item[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input;
  if (items.filter(one => one.type === 'item_reference').length > limits.referencedItems)
    refuseField(['input'], `More than ${limits.referencedItems} items are referred to`);
  const messages: Message[] = [];
  const told: string[] = body.instructions ? [body.instructions] : [];
  for (const [i, one] of items.entries()) {
    if (one.type === 'item_reference')
      messages.push((await readItem(one.id)) ?? refuseField(['input', i, 'id'], 'There is no such item'));
    else if (isInstruction(one)) told.push(common.readText(one.content, ['input', i, 'content']));
    else messages.push(readItemMessage(one, i));
  }
  const instructions = told.join('\n\n');
  const { conversation } = body;
  const conversation_id =
    (typeof conversation === 'string' ? conversation : conversation?.id) ?? readConversationId(body.metadata);
  return {
    messages: joinCalls(messages),
    conversation_id,
    isKept: body.store !== false,
    options: {
      ...(instructions !== '' && { instructions }),
      ...common.readTools(body.tools ?? [], body.tool_choice),
      ...(body.parallel_tool_calls === false && body.tools?.length && { isOneCall: true }),
      ...common.readFormat(body.text?.format),
      ...(body.max_output_tokens != null && { maxOutputTokens: body.max_output_tokens }),
      ...common.readSampling(body),
    },
  };
}

const isInstruction = (one: Item): one is z.infer<typeof message> =>
  'role' in one && (one.role === 'system' || one.role === 'developer');

function readItemMessage(one: Exclude<Item, { type: 'item_reference' }>, i: number): Message {
  if (one.type === 'function_call_output')
    return {
      role: 'tool',
      content: [toolResult(one.call_id, common.readText(one.output, ['input', i, 'output']))],
    };
  if (one.type === 'function_call') {
    const input = common.readArguments(one.arguments, ['input', i, 'arguments']);
    const part: Part = { type: 'tool-call', toolCallId: one.call_id, toolName: one.name, input };
    return { role: 'assistant', content: [part] };
  }
  const content = common.readText(one.content, ['input', i, 'content']);
  return one.role === 'assistant' ? { role: 'assistant', content } : { role: 'user', content };
}

// Each call and each result is an item of its own there, and providers want those of one step in one message.
function joinCalls(messages: readonly Message[]): Message[] {
  const joined: Message[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    const isSame = last?.role === message.role && (message.role === 'assistant' || message.role === 'tool');
    if (!isSame) joined.push(message);
    else
      joined.splice(-1, 1, {
        role: message.role,
        content: [...partsOf(last), ...partsOf(message)],
      } as Message);
  }
  return joined;
}

const partsOf = ({ content }: Message): Part[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;
