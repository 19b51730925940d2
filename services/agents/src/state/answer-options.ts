import type { ModelName } from '../models/models.ts';
import type { Message } from './message-format.ts';
import type { MessageItem } from './turn-items.ts';

// What a caller says about the answer to one message, beyond its text. Kept with the message while it waits, so that any
// process answers it in the same way.
export type AnswerOptions = {
  input: Message[]; // what is new: messages of the user, or results of the caller's tools
  history?: Message[]; // of a conversation that the caller keeps, instead of ours
  instructions?: string; // after those of the tenant
  model?: ModelName; // no other one answers
  tools?: CallerTool[];
  toolChoice?: 'none' | 'required' | { name: string };
  isOneCall?: boolean; // at most one call of a caller's tool in an answer
  format?: AnswerFormat;
  maxOutputTokens?: number;
  sampling?: Sampling;
};

// A function that the caller runs: its call ends the turn, and its result comes with the next message.
export type CallerTool = {
  name: string;
  description?: string;
  parameters: Record<string, unknown>;
  isStrict?: boolean;
};
export type AnswerFormat = { name?: string; description?: string; schema?: Record<string, unknown> };
type Sampling = {
  temperature?: number;
  topP?: number;
  presencePenalty?: number;
  frequencyPenalty?: number;
  seed?: number;
  stopSequences?: string[];
};

export const optionsOf = ({ options }: Pick<MessageItem, 'options'>): AnswerOptions | undefined =>
  options === undefined ? undefined : (JSON.parse(options) as AnswerOptions);

export const inputOf = (message: Pick<MessageItem, 'options' | 'content'>): Message[] =>
  optionsOf(message)?.input ?? [{ role: 'user', content: message.content ?? '' }];

// Whether the caller defines how to answer: then a model does, and no rule.
export const definesAnswer = ({ input, history: _, ...rest }: AnswerOptions): boolean =>
  Object.keys(rest).length > 0 || input.some(({ role }) => role === 'tool');
