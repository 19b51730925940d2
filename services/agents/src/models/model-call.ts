import type { Clock } from '@stak/kit';
import { isUnavailable } from '@stak/table';
import type { LanguageModel, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from 'ai';
import * as limits from '../limits.ts';
import type { AnswerOptions, CallerTool } from '../state/answer-options.ts';
import {
  cleanText,
  cutBytes,
  type Message,
  type OpenCall,
  openCalls,
  type Part,
  partsOf,
} from '../state/message-format.ts';
import type { TurnItem } from '../state/turn-items.ts';
import type { Budget } from './budget.ts';
import { traceModel } from './model-span.ts';
import type { ModelName } from './models.ts';
import { withFormat } from './response-format.ts';

export type Prompt = { system: string; messages: readonly Message[]; maxOutputTokens: number };
export type Attempt = {
  clock: Clock;
  name: ModelName;
  model: LanguageModel;
  prompt: Prompt;
  tools: ToolSet;
  stepsLeft: number; // at zero, the model must answer without further calls
  toolBytes: number;
  budget: Budget;
  signal: AbortSignal;
  onText(text: string): void;
  options?: Pick<AnswerOptions, 'format' | 'isOneCall' | 'sampling' | 'toolChoice' | 'tools'>;
};
export type ModelCall = OpenCall;
export type Answer = {
  text: string;
  messages: Message[];
  refusal?: unknown; // of the budget, which ended the answer
  isRefused: boolean;
  calls: ModelCall[]; // of tools that are not run here
  finishReason?: TurnItem['finish_reason']; // if the model stopped before its end
};

// In our own words, so that it can be logged and shown.
export class ModelFault extends Error {
  override readonly name: string = 'ModelFault';
}

export class ModelTimeout extends ModelFault {
  override readonly name = 'ModelTimeout';
}

// The stream ended before the model finished: the partial text is not an answer.
export class TruncatedStream extends ModelFault {
  override readonly name = 'TruncatedStream';
}

// Leaves of a failed request what may be logged. Providers' messages quote conversations, and the SDK's errors contain
// the whole request and response, so only fields too short for a sentence are kept.
export function withoutPrompt(error: unknown): Error {
  if (error instanceof ModelFault) return error;
  const { name, statusCode, type, code, cause, lastError } = Object(error) as Record<string, unknown>;
  if (lastError !== undefined) return withoutPrompt(lastError); // of the SDK's own retries
  const status = typeof statusCode === 'number' ? statusCode : undefined;
  const text = status === undefined ? 'the provider could not be used' : `the provider answered ${status}`;
  const codes = [name, type, code, Object(cause).code].filter(one => isCode(one));
  return new ModelFault(codes.length === 0 ? text : `${text} (${codes.join(', ')})`);
}

const isCode = (text: unknown): boolean => typeof text === 'string' && /^[A-Za-z]\w{0,40}$/.test(text);

// One attempt with one model: steps of text and calls of skills, until there is nothing more to call. Rejects if
// anything fails; what was used by then is in the budget.
export async function attemptAnswer(attempt: Attempt): Promise<Answer> {
  const { name, prompt, budget } = attempt;
  const promptBytes = Buffer.byteLength(prompt.system) + jsonBytes(prompt.messages);
  const inputBytes = promptBytes + attempt.toolBytes;
  const spending = createSpending(attempt, inputBytes);
  await budget.reserve(name, inputBytes + overheadBytes, prompt.maxOutputTokens);
  const watch = createWatch(attempt);
  try {
    const result = await startStream(attempt, watch.signal, spending);
    const said = await readStream(result.fullStream, attempt, watch, spending);
    spending.throwIfUnavailable();
    if (watch.signal.aborted) throw watch.reason();
    if (said.isCut) {
      watch.abort();
      spending.spendUnreported();
    }
    const messages = said.isCut ? [] : (await result.response).messages;
    return toAnswer(attempt, said, messages as LooseMessage[], spending.refusal());
  } catch (error) {
    spending.spendUnreported();
    throw watch.signal.aborted ? watch.reason() : error;
  } finally {
    watch.stop();
  }
}

// Counts what the steps of an attempt cost.
function createSpending({ name, prompt, budget }: Attempt, inputBytes: number) {
  let hasBegun = false;
  let writtenBytes = 0;
  let stepBytes = inputBytes;
  let refusal: unknown;
  return {
    // Records output: an answer, reasoning, or arguments of a call. Any output means that the provider has read the
    // input.
    noteOutput(text = ''): void {
      hasBegun = true;
      writtenBytes += Buffer.byteLength(text);
    },
    // True if the budget does not allow another step after these messages.
    async isOver(messages: unknown): Promise<boolean> {
      stepBytes = inputBytes + jsonBytes(messages);
      try {
        await budget.reserve(name, stepBytes + overheadBytes, prompt.maxOutputTokens);
      } catch (error) {
        refusal = error;
      }
      return refusal !== undefined;
    },
    // A store that could not be asked does not mean that the budget is used up: the turn is tried again.
    throwIfUnavailable(): void {
      if (isUnavailable(refusal)) throw refusal;
    },
    finishStep({ inputTokens, outputTokens, inputTokenDetails }: LanguageModelUsage): void {
      budget.spend(
        name,
        plausible(inputTokens) ?? estimate(stepBytes),
        plausible(outputTokens) ?? estimate(writtenBytes),
        plausible(inputTokens) && plausible(inputTokenDetails.cacheReadTokens),
      );
      hasBegun = false;
      writtenBytes = 0;
    },
    // The provider charges for what it has read and written, even if it reported no usage.
    spendUnreported(): void {
      if (hasBegun) budget.spend(name, estimate(stepBytes), estimate(writtenBytes));
    },
    refusal: () => refusal,
  };
}

type Spending = ReturnType<typeof createSpending>;
type Watch = ReturnType<typeof createWatch>;

async function startStream(
  { name, model, prompt, tools, stepsLeft, options = {} }: Attempt,
  signal: AbortSignal,
  spending: Spending,
) {
  const { streamText, stepCountIs } = await import('ai');
  return streamText({
    model: await withFormat(await traceModel(model, name), name, options.format),
    ...options.sampling,
    system: prompt.system,
    messages: prompt.messages as ModelMessage[],
    tools,
    ...toolChoiceOf(options, stepsLeft),
    maxOutputTokens: prompt.maxOutputTokens,
    includeRawChunks: true, // the SDK leaves out OpenAI's text of a refusal
    maxRetries: 0, // our own retries know the next model and our clock
    abortSignal: signal,
    stopWhen: [
      stepCountIs(Math.max(1, stepsLeft)),
      ({ steps }) => spending.isOver(steps.at(-1)?.response.messages),
    ],
    onError: () => {}, // the error also comes with the stream
  });
}

function toolChoiceOf({ toolChoice, isOneCall }: NonNullable<Attempt['options']>, stepsLeft: number) {
  const single = isOneCall && {
    providerOptions: {
      openai: { parallelToolCalls: false },
      openaiCompatible: { parallel_tool_calls: false },
      anthropic: { disableParallelToolUse: true },
    },
  };
  if (stepsLeft <= 0) return { toolChoice: 'none' as const };
  if (toolChoice === 'required') return { toolChoice, ...single };
  if (typeof toolChoice !== 'object') return { ...single };
  return { toolChoice: { type: 'tool' as const, toolName: toolChoice.name }, ...single };
}

type Said = Pick<Answer, 'finishReason'> & {
  text: string;
  refusal: string;
  isRefused: boolean;
  isCut: boolean;
};
type Stream = AsyncIterable<TextStreamPart<ToolSet>>;

async function readStream(
  stream: Stream,
  { onText }: Attempt,
  watch: Watch,
  spending: Spending,
): Promise<Said> {
  const said: Said = { text: '', refusal: '', isRefused: false, isCut: false };
  let textBytes = 0;
  for await (const part of stream) {
    watch.touch();
    if (part.type === 'text-delta') {
      said.text += part.text;
      textBytes += Buffer.byteLength(part.text);
      spending.noteOutput(part.text);
      onText(part.text);
      said.isCut = textBytes > limits.replyBytes;
      if (said.isCut) said.finishReason = 'length';
      if (said.isCut) break;
    } else if (part.type === 'reasoning-delta') spending.noteOutput(part.text);
    else if (part.type === 'tool-input-delta') spending.noteOutput(part.delta);
    else if (part.type === 'raw') {
      said.refusal += refusalOf(part.rawValue);
      if (!isError(part.rawValue)) spending.noteOutput();
    } else if (part.type === 'finish-step') {
      spending.finishStep(part.usage);
      said.isRefused = part.finishReason === 'content-filter' || said.refusal !== '';
      said.finishReason = said.isRefused
        ? 'content_filter'
        : part.finishReason === 'length'
          ? 'length'
          : undefined;
      if (part.rawFinishReason === undefined && part.finishReason === 'other')
        throw new TruncatedStream('The stream ended before the answer');
    } else if (part.type === 'error') throw part.error;
    else if (part.type === 'abort') throw watch.reason();
  }
  return said;
}

function toAnswer(
  { onText, prompt, options = {} }: Attempt,
  { text, refusal, isRefused, finishReason }: Said,
  messages: readonly LooseMessage[],
  overspent: unknown,
): Answer {
  const own = withOwnIds(messages.flatMap(readMessage), prompt.messages);
  const kept = options.isOneCall ? withOneCall(own, options.tools) : own;
  let shown = text;
  if (text === '' && isRefused) {
    shown = refusal || sayRefused;
    onText(shown);
    kept.push({ role: 'assistant', content: cleanText(shown) });
  }
  return {
    text: cutBytes(cleanText(shown), limits.replyBytes),
    messages: kept,
    refusal: overspent,
    isRefused,
    calls: openCalls(kept),
    finishReason,
  };
}

// Providers that do not know the setting may call several of the caller's tools at once: the first one counts.
function withOneCall(messages: readonly Message[], tools: readonly CallerTool[] = []): Message[] {
  const names = new Set(tools.map(({ name }) => name));
  const [first] = openCalls(messages).filter(({ name }) => names.has(name));
  const isKept = (part: Part) =>
    part.type !== 'tool-call' || !names.has(part.toolName) || part.toolCallId === first?.tool_call_id;
  return messages.map(message =>
    typeof message.content === 'string'
      ? message
      : ({ ...message, content: message.content.filter(isKept) } as Message),
  );
}

// A refusal is an answer: we do not retry, or try other models, until one complies.
const sayRefused = 'The model declined to answer this.';

// In OpenAI's two protocols.
function refusalOf(chunk: unknown): string {
  const { type, delta, choices } = Object(chunk) as {
    type?: unknown;
    delta?: unknown;
    choices?: readonly { delta?: { refusal?: unknown } }[];
  };
  const text = type === 'response.refusal.delta' ? delta : choices?.[0]?.delta?.refusal;
  return typeof text === 'string' ? text : '';
}

// Sent instead of an answer: the provider has read nothing.
const isError = (chunk: unknown): boolean => {
  const { type, error } = Object(chunk) as { type?: unknown; error?: unknown };
  return type === 'error' || Boolean(error);
};

// At most what a provider adds: its template, and the tools in its own format. It is reserved, and charged only if the
// provider reports it.
const overheadBytes = 2_000;
const estimate = (bytes: number): number => Math.ceil(bytes / 4);
// Some providers report no usage, and some report nonsense.
const plausible = (tokens: number | undefined): number | undefined =>
  Number.isInteger(tokens) && tokens! > 0 && tokens! <= limits.tokensReported ? tokens : undefined;
const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? '');

// Ends an attempt that takes too long or has stopped producing output.
function createWatch({ clock, signal }: Attempt) {
  const over = new AbortController();
  const late = new AbortController();
  let touchedMs = clock.now();
  const expire = (what: string) => late.abort(new ModelTimeout(`The model ${what}`));
  const rest = (ms: number) => clock.sleep(ms, over.signal);
  rest(limits.modelMs).then(
    () => expire(`had not finished after ${limits.modelMs} ms`),
    () => {},
  );
  const watchSilence = async () => {
    for (;;) {
      const leftMs = touchedMs + limits.modelStallMs - clock.now();
      if (leftMs <= 0) return expire(`was silent for ${limits.modelStallMs} ms`);
      await rest(leftMs);
    }
  };
  watchSilence().catch(() => {}); // the attempt ended first
  const joined = AbortSignal.any([signal, late.signal]);
  return {
    signal: joined,
    reason: (): unknown => joined.reason,
    touch: () => {
      touchedMs = clock.now();
    },
    abort: () => late.abort(new ModelTimeout('The answer is too long')),
    stop: () => over.abort(),
  };
}

type LooseMessage = { role: string; content: string | readonly { type: string; [field: string]: unknown }[] };

// Keeps of a model's message no reasoning, no files, nothing specific to one provider.
function readMessage({ role, content }: LooseMessage): Message[] {
  if (typeof content === 'string') return role === 'assistant' ? [{ role, content: cleanText(content) }] : [];
  const parts = content.flatMap((part): Part[] => {
    if (part.type === 'text') return [{ type: 'text', text: cleanText(String(part.text)) }];
    const id = { toolCallId: String(part.toolCallId), toolName: String(part.toolName) };
    if (part.type === 'tool-call') return [{ type: 'tool-call', ...id, input: asObject(part.input) }];
    if (part.type === 'tool-result')
      return [{ type: 'tool-result', ...id, output: part.output as { type: string; value: unknown } }];
    return [];
  });
  if (parts.length === 0) return [];
  return role === 'tool' ? [{ role, content: parts }] : [{ role: 'assistant', content: parts }];
}

// Gives each call a unique id. Some providers number calls anew in every step, or leave ids empty, but a call is
// executed once per id.
function withOwnIds(messages: readonly Message[], before: readonly Message[]): Message[] {
  const taken = new Set(
    partsOf(before).flatMap(part => (part.type === 'tool-call' ? [part.toolCallId] : [])),
  );
  const counts = new Map<string, number>();
  const open = new Map<string, string[]>(); // ids of calls without a result, by the model's own id
  const newId = (said: string): string => {
    const name = said || 'call';
    let id = name;
    while (taken.has(id)) {
      const count = (counts.get(name) ?? 1) + 1;
      counts.set(name, count);
      id = `${name}_${count}`;
    }
    taken.add(id);
    return id;
  };
  const readPart = (part: Part): Part => {
    if (part.type === 'text') return part;
    const call = `${part.toolName} ${part.toolCallId}`;
    const ids = open.get(call) ?? [];
    open.set(call, ids);
    if (part.type === 'tool-result') return { ...part, toolCallId: ids.shift() ?? part.toolCallId };
    const toolCallId = newId(part.toolCallId);
    ids.push(toolCallId);
    return { ...part, toolCallId };
  };
  return messages.map(message =>
    typeof message.content === 'string'
      ? message
      : ({ ...message, content: message.content.map(readPart) } as Message),
  );
}

// Arguments that were invalid JSON arrive as text, but providers accept only an object.
const asObject = (input: unknown): unknown =>
  typeof input === 'object' && input !== null ? input : { malformed: String(input).slice(0, 1000) };
