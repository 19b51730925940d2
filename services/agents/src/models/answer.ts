import { tableErrors } from '@stak/table';
import type { ToolSet } from 'ai';
import { z } from 'zod';
import type { Service } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import type { LiveEvent } from '../hub.ts';
import * as limits from '../limits.ts';
import type { AgentSettings } from '../settings.ts';
import { executeSkill } from '../skills/execution.ts';
import type { Skill, SkillScope } from '../skills/skill.ts';
import { type Answer, attemptAnswer, ModelTimeout, type Prompt } from './attempt.ts';
import type { Budget } from './budget.ts';
import type { ModelName, Models } from './models.ts';

export type Question = {
  models: Models;
  settings: AgentSettings;
  prompt: Prompt;
  skills: readonly Skill[];
  scope: SkillScope;
  budget: Budget;
  isEnabled(name: string): Promise<boolean>; // asked again when a skill is called
  emit(event: LiveEvent): void;
};
export type ModelAnswer = Answer & { name: ModelName; skills: string[] };

// Which models may answer, in order: the tenant's, its fallback, the operator's.
export async function findModels({ models, settings }: Pick<Question, 'models' | 'settings'>) {
  const { ai_provider: provider, ai_model: model, ai_fallback } = settings;
  const names = [{ provider, model }, ai_fallback, models.fallback].filter(name => name !== undefined);
  const found = await Promise.all(names.map(async name => ({ name, model: await models.find(name) })));
  return found.flatMap(({ name, model: one }) => (one ? [{ name, model: one }] : []));
}

// Asks one model after the other. Undefined if none is configured.
export async function askModel(service: Service, question: Question): Promise<ModelAnswer | undefined> {
  const { clock, log } = service;
  const { scope, prompt, budget, emit } = question;
  const candidates = await findModels(question);
  const toolBytes = Buffer.byteLength(JSON.stringify(question.skills.map(describeSkill)));
  if (candidates.length === 0) return undefined;
  let failure: unknown;
  for (const { name, model } of candidates)
    for (let attempt = 1; attempt <= limits.modelAttempts; attempt++) {
      const used: string[] = [];
      let hasText = false;
      try {
        const tools = await toolsOf(service, question, used);
        const onText = (text: string) => {
          hasText = true;
          emit({ event: 'delta', data: { text } });
        };
        const { signal } = scope;
        const attempted = { clock, name, model, prompt, tools, toolBytes, budget, signal, onText };
        const answer = await attemptAnswer(attempted);
        if (answer.text !== '') return { ...answer, name, skills: used };
        throw new Error(
          answer.ranOut ? 'the budget of the day ended before an answer' : 'the answer was empty',
        );
      } catch (error) {
        if (scope.signal.aborted || agentErrors.includes(error) || tableErrors.includes(error)) throw error;
        failure = error;
        log.warn({ err: withoutPrompt(error), ...name, attempt }, 'a model did not answer');
        if (hasText) emit({ event: 'restart', data: {} });
        const delayMs = await retryDelay(error);
        if (delayMs === undefined || attempt === limits.modelAttempts) break;
        await clock.sleep(delayMs, scope.signal);
      }
    }
  throw agentErrors.create(
    'agents.model_failed',
    `No model answered: ${describe(failure)}`,
    undefined,
    withoutPrompt(failure),
  );
}

// How long until the same model is worth another try; undefined if it is not.
async function retryDelay(error: unknown): Promise<number | undefined> {
  const { APICallError } = await import('ai');
  if (error instanceof ModelTimeout || !APICallError.isInstance(error) || !error.isRetryable)
    return undefined;
  const seconds = Number(error.responseHeaders?.['retry-after']);
  const delayMs = seconds > 0 ? seconds * 1000 : limits.modelRetryMs;
  return delayMs > limits.modelRetryMostMs ? undefined : delayMs;
}

// The SDK's errors carry the whole request, with everything that was said, and errors are logged.
function withoutPrompt(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const plain = new Error(error.message);
  plain.name = error.name;
  plain.stack = error.stack;
  return plain;
}

// Of a provider's error, what says nothing about us or our keys.
function describe(error: unknown): string {
  const status = (error as { statusCode?: unknown }).statusCode;
  if (typeof status === 'number' && status >= 400) return `the provider answered ${status}.`;
  return error instanceof ModelTimeout ? `${error.message}.` : 'the provider could not be used.';
}

const describeSkill = ({ name, description, jsonSchema, parameters }: Skill) => ({
  name,
  description,
  parameters: jsonSchema ?? z.toJSONSchema(parameters, { io: 'input', unrepresentable: 'any' }),
});

async function toolsOf(service: Service, question: Question, used: string[]): Promise<ToolSet> {
  const { jsonSchema, tool } = await import('ai');
  const { scope, emit, isEnabled } = question;
  const run = async (skill: Skill, input: unknown): Promise<unknown> => {
    used.push(skill.name);
    if (used.length > limits.skillCalls) return { error: 'too many calls in one turn' };
    if (!(await isEnabled(skill.name))) return { error: 'this skill is not enabled' };
    emit({ event: 'skill', data: { name: skill.name } });
    const outcome = await executeSkill(service.clock, skill, input, scope);
    return outcome.ok ? (outcome.result.data ?? null) : { error: outcome.reason };
  };
  return Object.fromEntries(
    question.skills.map(skill => [
      skill.name,
      tool({
        description: skill.description,
        inputSchema: skill.jsonSchema ? jsonSchema(skill.jsonSchema) : skill.parameters,
        execute: (input: unknown) => run(skill, input),
      }),
    ]),
  );
}
