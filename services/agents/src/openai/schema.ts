import { boundedRecord, nameSchemas } from '@stak/http';
import { z } from 'zod';
import * as limits from '../limits.ts';
import type { AnswerOptions, CallerTool } from '../state/answer-options.ts';
import { refuseField } from './error-shape.ts';

// What both of OpenAI's protocols say about an answer. What is not listed is refused by name; what is listed as a
// literal is accepted because it changes nothing.

const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'Up to 64 letters, digits, _ and -');
const jsonObject = z.record(z.string(), z.unknown());
const description = z
  .string()
  .max(limits.toolDescriptionChars)
  .nullish()
  .describe('What it is for, in words for the model');
const strict = z.boolean().nullish().describe('Whether the model has to keep to the schema, if it can');

export const functionTool = z.strictObject({
  name: toolName.describe('The name of the function'),
  description,
  parameters: jsonObject.nullish().describe('The arguments of the function, as a JSON Schema'),
  strict,
});
export const formatSchema = z.strictObject({
  name: z.string().max(64).describe('The name of the format'),
  description,
  schema: jsonObject.describe('The answer, as a JSON Schema'),
  strict,
});
const text = z.string().max(limits.messageBodyBytes);
const part = z.looseObject({
  type: z.string().max(50).describe('`text`, `input_text`, `output_text` or `refusal`'),
  text: text.optional().describe('The text of the part'),
  refusal: text.optional().describe('Why the model refused, in an answer that is sent back'),
});

/** The content of a message: a text, or parts of it. */
export const content = z.union([text, z.array(part).max(limits.contentParts)]);
export const textFormat = z.strictObject({ type: z.literal('text').describe('Any text') });
export const jsonFormat = z.strictObject({ type: z.literal('json_object').describe('A JSON object') });
nameSchemas({ OpenAiContentPart: part, OpenAiTextFormat: textFormat, OpenAiJsonFormat: jsonFormat });

export const anyToolChoice = z.enum(['none', 'auto', 'required']);

export const commonFields = {
  model: z
    .string()
    .min(1)
    .max(300)
    .describe('`default` for the agent of the tenant, or a model of `GET …/models`'),
  metadata: boundedRecord(z.string().max(64), z.string().max(512), 16)
    .nullish()
    .describe('`conversation_id` names a conversation to continue, or to begin'),
  store: z.boolean().nullish().describe('Whether the conversation is kept here, as every other'),
  stream: z.boolean().nullish().describe('Whether the answer is sent as server-sent events while it is made'),
  temperature: z.number().min(0).max(2).nullish().describe('How freely the model chooses its words'),
  top_p: z.number().min(0).max(1).nullish().describe('The share of likely words that the model chooses from'),
  parallel_tool_calls: z.boolean().nullish().describe('If false, one function is called at a time'),
  user: z.string().max(512).nullish().describe('The user of a new conversation, for hosts only'),
  safety_identifier: z.string().max(512).nullish().describe('The same, if there is no `user`'),
  service_tier: z.enum(['auto', 'default']).nullish().describe('Changes nothing'),
  prompt_cache_key: z.string().max(512).nullish().describe('Changes nothing'),
  prompt_cache_retention: z.string().max(64).nullish().describe('Changes nothing'),
  top_logprobs: z.literal(0).nullish().describe('Logarithms of probabilities are not given'),
};
export const maxTokens = z
  .int()
  .min(1)
  .max(10_000_000)
  .nullish()
  .describe('The most tokens of the answer, within those of the tenant');
export const tools = <T extends z.ZodType>(tool: T) =>
  z
    .array(tool)
    .max(limits.callersTools)
    .nullish()
    .describe('Functions of the caller that the model may call');

type GivenTool = z.infer<typeof functionTool>;

export function readTools(given: readonly GivenTool[], choice: unknown): Partial<AnswerOptions> {
  const names = new Set(given.map(({ name }) => name));
  if (names.size < given.length) refuseField(['tools'], 'Two functions have the same name');
  const read = given.map(
    ({ name, description, parameters, strict }): CallerTool => ({
      name,
      ...(description != null && { description }),
      parameters: { type: 'object', properties: {}, ...parameters },
      ...(strict != null && { isStrict: strict }),
    }),
  );
  const toolChoice = readChoice(choice);
  if (typeof toolChoice === 'object' && !names.has(toolChoice.name))
    refuseField(['tool_choice'], `There is no function "${toolChoice.name}"`);
  if (toolChoice === 'required' && names.size === 0) refuseField(['tool_choice'], 'There are no functions');
  return { ...(read.length > 0 && { tools: read }), ...(toolChoice !== undefined && { toolChoice }) };
}

function readChoice(choice: unknown): AnswerOptions['toolChoice'] {
  if (choice === 'none' || choice === 'required') return choice;
  const { name, function: named } = Object(choice) as { name?: string; function?: { name: string } };
  const chosen = named?.name ?? name;
  return chosen === undefined ? undefined : { name: chosen };
}

type Given = {
  temperature?: number | null;
  top_p?: number | null;
  presence_penalty?: number | null;
  frequency_penalty?: number | null;
  seed?: number | null;
  stop?: string | string[] | null;
};

export function readSampling(given: Given): Partial<AnswerOptions> {
  const { temperature, top_p, presence_penalty, frequency_penalty, seed, stop } = given;
  const all = {
    temperature,
    topP: top_p,
    presencePenalty: presence_penalty,
    frequencyPenalty: frequency_penalty,
    seed,
    stopSequences: typeof stop === 'string' ? [stop] : stop,
  };
  const sampling = Object.fromEntries(Object.entries(all).filter(([, value]) => value != null));
  return Object.keys(sampling).length > 0 ? { sampling } : {};
}

type GivenFormat = {
  type: string;
  name?: string;
  description?: string | null;
  schema?: Record<string, unknown>;
};

export function readFormat(given: GivenFormat | null | undefined): Partial<AnswerOptions> {
  if (!given || given.type === 'text') return {};
  const { name, description, schema } = given;
  return {
    format: { ...(name && { name }), ...(description && { description }), ...(schema && { schema }) },
  };
}

type Part = { type: string; text?: string; refusal?: string };

// The text of a message. An answer about an image that the model has never seen would be made up.
export function readText(content: string | readonly Part[], path: readonly (string | number)[]): string {
  if (typeof content === 'string') return content;
  return content
    .map(({ type, text, refusal }, i) => {
      if (/^(?:input_|output_)?text$/.test(type) && text !== undefined) return text;
      if (type === 'refusal' && refusal !== undefined) return refusal;
      return refuseField(
        [...path, i, 'type'],
        `Only text can be sent, and this is of the type ${type.slice(0, 50)}`,
      );
    })
    .join('\n');
}

// Arguments of a call, which are JSON in both protocols.
export function readArguments(text: string, path: readonly (string | number)[]): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return refuseField(path, 'The arguments are not JSON');
  }
}
