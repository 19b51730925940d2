import { readRetryAfter } from '@stak/outbound';
import { tableErrors } from '@stak/table';
import type { ToolSet } from 'ai';
import { z } from 'zod';
import type { Service } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import type { AgentSettings } from '../settings.ts';
import { executeSkill } from '../skills/run-skill.ts';
import type { Skill, SkillScope } from '../skills/skill.ts';
import type { AnswerOptions, CallerTool } from '../state/answer-options.ts';
import type { LiveEvent } from '../streaming/live-answers.ts';
import { checkFormat, WrongFormat } from './answer-format.ts';
import type { Budget } from './budget.ts';
import {
  type Answer,
  attemptAnswer,
  ModelFault,
  type Prompt,
  TruncatedStream,
  withoutPrompt,
} from './model-call.ts';
import { type ModelName, type Models, modelText, operatorsChoice } from './models.ts';

export type Question = {
  models: Models;
  settings: AgentSettings;
  options?: AnswerOptions; // what the caller says about the answer
  prompt: Prompt;
  shorten(): Prompt | undefined; // the same with less history, if there is any
  skills: readonly Skill[];
  pauses(skill: Skill): boolean; // its calls are stored before they are made, and not made here
  used: readonly string[]; // skills, earlier in this turn
  stepsLeft: number;
  scope: SkillScope;
  budget: Budget;
  isEnabled(name: string): Promise<boolean>; // checked again when a skill is called
  emit(event: LiveEvent): void;
};
export type ModelAnswer = Answer & { name: ModelName; skills: string[] };

type Choice = Pick<Question, 'models' | 'settings'> & { only?: ModelName };

// The models that may answer, in order: the tenant's (or the default, if the server does not have it), then the tenant's
// fallbacks and the operator's. If the caller names one, only that.
export async function findModels({ models, settings, only }: Choice) {
  const { ai_provider: provider, ai_model, fallbacks } = settings;
  const isOwn = provider !== operatorsChoice && ai_model !== operatorsChoice;
  const own = isOwn ? { provider, model: ai_model } : undefined;
  const first = own && (await models.find(own)) ? own : models.default;
  const wanted = (only ? [only] : [first, ...fallbacks, models.fallback]).filter(name => name !== undefined);
  const names = [...new Map(wanted.map(name => [modelText(name), name])).values()];
  const found = await Promise.all(names.map(async name => ({ name, model: await models.find(name) })));
  return found.flatMap(({ name, model: one }) => (one ? [{ name, model: one }] : []));
}

// Tries the models in order. Undefined if none is configured.
export async function askModel(
  service: Pick<Service, 'clock' | 'log'>,
  question: Question,
): Promise<ModelAnswer | undefined> {
  const { clock, log } = service;
  const { scope, budget, emit } = question;
  const { options = { input: [] } } = question;
  const candidates = await findModels({ ...question, only: options.model });
  const callersTools = options.toolChoice === 'none' ? [] : (options.tools ?? []);
  const offered = [...question.skills.map(describeSkill), ...callersTools];
  const toolBytes = Buffer.byteLength(JSON.stringify(offered));
  if (candidates.length === 0) return undefined;
  let failure: unknown;
  for (const { name, model } of candidates) {
    let prompt = question.prompt;
    for (let attempt = 1; attempt <= limits.modelAttempts; attempt++) {
      const used = [...question.used];
      let hasText = false;
      try {
        const tools = {
          ...(await toolsOf(service, question, used)),
          ...(await callersToolsOf(callersTools)),
        };
        const onText = (text: string) => {
          hasText = true;
          emit({ event: 'delta', data: { text } });
        };
        const { signal } = scope;
        const { stepsLeft } = question;
        const attempted = {
          ...{ clock, name, model, prompt, tools, stepsLeft, toolBytes, budget, signal, onText },
          options,
        };
        const answer = await attemptAnswer(attempted);
        checkFormat(answer, options.format);
        if (answer.text !== '' || answer.calls.length > 0) return { ...answer, name, skills: used };
        throw answer.refusal ?? new ModelFault('the answer was empty');
      } catch (error) {
        if (scope.signal.aborted || agentErrors.includes(error) || tableErrors.includes(error)) throw error;
        failure = error;
        log.warn({ err: withoutPrompt(error), ...name, attempt }, 'a model did not answer');
        if (hasText) emit({ event: 'restart', data: {} });
        if (attempt === limits.modelAttempts) break;
        const shorter = isTooLong(error) ? question.shorten() : undefined;
        const delayMs = shorter ? 0 : await retryDelay(error, clock.now());
        if (delayMs === undefined) break;
        prompt = shorter ?? prompt;
        if (delayMs > 0) await clock.sleep(delayMs, scope.signal);
      }
    }
  }
  const afterMs = retryAfterOf(failure, clock.now());
  throw agentErrors.create(
    'agents.model_failed',
    `No model answered: ${describeFailure(failure)}`,
    afterMs === undefined ? undefined : { retryAfterS: Math.ceil(afterMs / 1000) },
    withoutPrompt(failure),
  );
}

// The delay that a provider asks for.
function retryAfterOf(error: unknown, nowMs: number): number | undefined {
  const { responseHeaders } = Object(error) as { responseHeaders?: Record<string, string> };
  return readRetryAfter(responseHeaders?.['retry-after'], nowMs);
}

// Each provider has its own wording.
const tooLong =
  /context[ _-]?(?:length|window)|(?:prompt|input|request)[\w ]* (?:is )?too (?:long|large)|maximum context|input token count|too many (?:input )?tokens|exceeds? the (?:maximum|max) (?:number of )?(?:input )?tokens/i;

function isTooLong(error: unknown): boolean {
  const { statusCode, message, responseBody } = Object(error) as Record<string, unknown>;
  if (statusCode === 413) return true;
  const isRefused = statusCode === undefined || statusCode === 400 || statusCode === 422;
  return isRefused && tooLong.test(`${String(message)} ${String(responseBody ?? '')}`);
}

// How long to wait before trying the same model again; undefined if that is useless.
async function retryDelay(error: unknown, nowMs: number): Promise<number | undefined> {
  const { APICallError, InvalidResponseDataError, JSONParseError, TypeValidationError } = await import('ai');
  const isBroken =
    error instanceof TruncatedStream ||
    error instanceof WrongFormat ||
    error instanceof TypeError || // the connection was lost
    [InvalidResponseDataError, JSONParseError, TypeValidationError].some(kind => kind.isInstance(error));
  if (isBroken || isOverload(error)) return limits.modelRetryMs;
  if (!APICallError.isInstance(error) || !error.isRetryable) return undefined;
  const delayMs = retryAfterOf(error, nowMs) || limits.modelRetryMs;
  return delayMs > limits.modelRetryMostMs ? undefined : delayMs;
}

// Reported within a stream, where there is no status any more.
function isOverload(error: unknown): boolean {
  const { type, code } = Object(error) as { type?: unknown; code?: unknown };
  return [type, code].some(
    one => typeof one === 'string' && /overloaded|rate_limit|server_error|api_error/.test(one),
  );
}

// The part of a provider's error that reveals nothing about us or our keys.
export function describeFailure(error: unknown): string {
  const status = (error as { statusCode?: unknown }).statusCode;
  if (isTooLong(error)) return 'the message is too long for it.';
  if (typeof status === 'number' && status >= 400) return `the provider answered ${status}.`;
  return error instanceof ModelFault ? `${error.message}.` : 'the provider could not be used.';
}

// They are not run here: a call ends the model's step.
async function callersToolsOf(given: readonly CallerTool[]): Promise<ToolSet> {
  const { jsonSchema, tool } = await import('ai');
  return Object.fromEntries(
    given.map(({ name, description, parameters, isStrict: strict }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters), ...(strict !== undefined && { strict }) }),
    ]),
  ) as ToolSet;
}

const describeSkill = ({ name, description, jsonSchema, parameters }: Skill) => ({
  name,
  description,
  parameters: jsonSchema ?? z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' }),
});

async function toolsOf(
  service: Pick<Service, 'clock'>,
  question: Question,
  used: string[],
): Promise<ToolSet> {
  const { jsonSchema, tool } = await import('ai');
  const { scope, emit, isEnabled } = question;
  const run = async (skill: Skill, input: unknown, tool_call_id: string): Promise<unknown> => {
    used.push(skill.name);
    if (used.length > limits.skillCalls) return { error: 'too many calls in one turn' };
    if (!(await isEnabled(skill.name))) return { error: 'this skill is not enabled' };
    emit({ event: 'skill', data: { name: skill.name, tool_call_id, input } });
    const outcome = await executeSkill(service.clock, skill, input, scope);
    const output = outcome.ok ? (outcome.result.data ?? null) : { error: outcome.reason };
    const result = outcome.ok ? { output } : { error: outcome.reason };
    emit({ event: 'skill_result', data: { name: skill.name, tool_call_id, ...result } });
    return output;
  };
  const toolOf = (skill: Skill) => {
    const { description } = skill;
    const inputSchema = skill.jsonSchema ? jsonSchema(skill.jsonSchema) : skill.parameters;
    if (question.pauses(skill)) return tool({ description, inputSchema }); // the model's step ends with the call
    return tool({
      description,
      inputSchema,
      execute: (input: unknown, { toolCallId }: { toolCallId: string }) => run(skill, input, toolCallId),
    });
  };
  return Object.fromEntries(question.skills.map(skill => [skill.name, toolOf(skill)])) as ToolSet;
}
