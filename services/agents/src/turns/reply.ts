import type { Values } from '../agents/definition.ts';
import { messagesWithResults, sayResults } from '../approvals/run-calls.ts';
import { type Base, type EnteredTenant, type ModelDeps, type Service, timestampOf } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { askModel, findModels } from '../models/ask-model.ts';
import { openBudget, type TurnSpend } from '../models/budget.ts';
import type { ModelCall } from '../models/model-call.ts';
import { operatorsChoice } from '../models/models.ts';
import { enabledNames, readAgentSettings } from '../settings.ts';
import { askAgent } from '../skills/reserved-names.ts';
import { executeSkill, sayFailed } from '../skills/run-skill.ts';
import { approvalOf, type Skill, type SkillScope } from '../skills/skill.ts';
import { type AnswerOptions, definesAnswer } from '../state/answer-options.ts';
import { dropOrphans, joinContinued, tokensOfMessages, windowOf } from '../state/context-window.ts';
import {
  cleanText,
  cutBytes,
  type Message,
  parseMessages,
  splitTurns,
  textOf,
} from '../state/message-format.ts';
import type { PendingCall, Progress } from '../state/paused.ts';
import type { NewTurn, TurnItem } from '../state/turn-items.ts';
import type { LiveEvent } from '../streaming/live-answers.ts';
import { isSpent } from '../usage/quota.ts';
import type { CancelWatch } from './cancel.ts';
import {
  matchRule,
  type RuleMatch,
  sayHello,
  sayHelp,
  sayNoModel,
  sayNoPrice,
  sayOverBudget,
  sayStopped,
  sayTooExpensive,
  sayWelcome,
} from './rules.ts';
import { systemPrompt, usersFormat } from './system-prompt.ts';

export type ReplyRequest = {
  tenant: EnteredTenant; // as the agent that answers
  refresh(): Promise<EnteredTenant>; // reads both again when a skill is called
  channel: string | undefined;
  variables: Values; // of the conversation
  spend: TurnSpend; // with the agents that are asked
  said: readonly Message[]; // a burst has several
  options?: AnswerOptions; // of a message that is answered alone
  message_ids: readonly string[];
  tail: readonly TurnItem[];
  skills: readonly Skill[]; // enabled
  scope: SkillScope;
  progress?: Progress; // of a stored turn: all of its calls have results
  isLast?: boolean; // report what was done, even if no model can
  isAwaited?: boolean; // a caller gets the error if there is no answer
  watchCancelled(): CancelWatch;
  emit(event: LiveEvent): void;
};
export type ReplyDraft = Pick<NewTurn, 'routing' | 'rule' | 'skills' | 'model' | 'finish_reason'> &
  Pick<NewTurn, 'input_tokens' | 'output_tokens' | 'cost_micros'> & { messages: Message[] };

// Calls that must be stored, and perhaps approved, before the turn continues.
export type Unfinished = { progress: Progress };

// Rules first, because they cost nothing; then a model with the tenant's skills as its tools.
export async function makeReply(
  service: Base & ModelDeps,
  asked: ReplyRequest,
): Promise<ReplyDraft | Unfinished> {
  const { progress, emit } = asked;
  const made = progress ? await continueReply(service, asked, progress) : await beginReply(service, asked);
  if ('routing' in made && made.routing === 'rule')
    emit({ event: 'delta', data: { text: made.messages[0]!.content } });
  return made;
}

async function beginReply(service: Base & ModelDeps, asked: ReplyRequest): Promise<ReplyDraft | Unfinished> {
  const { tenant, said, skills, options } = asked;
  const isPlain = !options || !definesAnswer(options);
  const match = isPlain
    ? matchRule(said.map(({ content }) => textOf(content)).join('\n'), skills)
    : undefined;
  if (match) return followRule(service, asked, match);
  try {
    const made = await followModel(service, asked);
    return made ?? ruled('no_model', sayNoModel(whyNoModel(service, tenant), skills));
  } catch (error) {
    if (asked.isAwaited || !(isSpent(error) || (asked.isLast && isOverBudget(error)))) throw error;
    return ruled('budget', sayRefusal(error));
  }
}

function sayRefusal(error: unknown): string {
  if (!isOverBudget(error)) return sayNoPrice;
  const { scope } = Object(Object(error).details) as { scope?: string };
  return scope === 'turn' ? sayTooExpensive : sayOverBudget;
}

const isOverBudget = (error: unknown): boolean =>
  agentErrors.includes(error) && error.code === 'agents.spend_exceeded';

// Continues after the calls were made. If no model can describe their results, the last attempt lists them itself.
async function continueReply(
  service: Base & ModelDeps,
  asked: ReplyRequest,
  progress: Progress,
): Promise<ReplyDraft | Unfinished> {
  const { routing, skills, model, input_tokens, output_tokens, cost_micros, calls } = progress;
  const text = sayResults(calls);
  if (routing === 'rule') return ruled('skill', text, skills);
  try {
    const made = await followModel(service, asked);
    if (made) return made;
  } catch (error) {
    if (!isSpent(error) && !(asked.isLast && agentErrors.includes(error))) throw error;
  }
  asked.emit({ event: 'delta', data: { text } });
  const messages: Message[] = [...messagesWithResults(progress), { role: 'assistant', content: text }];
  return { routing, skills, model, input_tokens, output_tokens, cost_micros, messages };
}

// What there is of an answer that was stopped. Calls that were not made by then are not made any more.
export function stopReply(progress: Progress | undefined, text = ''): ReplyDraft {
  const { routing = 'rule', skills = [], calls = [], ...rest } = progress ?? {};
  const { model, input_tokens, output_tokens, cost_micros } = rest as Partial<Progress>;
  const stopped = calls.map(call => ({ ...call, result: call.result ?? notMade }));
  const done = progress ? messagesWithResults({ ...progress, calls: stopped }) : [];
  const messages: Message[] = [...done, { role: 'assistant', content: text || sayStopped }];
  return { routing, rule: 'cancelled', skills, model, input_tokens, output_tokens, cost_micros, messages };
}

const notMade = { output: { error: 'the answer was stopped' }, text: sayStopped, is_error: true };

// Answers by a rule that runs nothing, or says that there is no model. Undefined if the message needs more.
export async function replyAtOnce(
  service: Pick<Service, 'models'>,
  tenant: EnteredTenant,
  said: string,
  skills: () => Promise<Skill[]>,
): Promise<ReplyDraft | undefined> {
  const enabled = await skills();
  const match = matchRule(said, enabled);
  const settings = readAgentSettings(tenant.settings);
  if (match)
    return match.rule === 'skill' ? undefined : sayRule(match.rule, enabled, settings.profile.greeting);
  const { models } = service;
  if (models && (await findModels({ models, settings })).length > 0) return undefined;
  return ruled('no_model', sayNoModel(whyNoModel(service, tenant), enabled));
}

function sayRule(
  rule: Exclude<RuleMatch['rule'], 'skill'>,
  skills: readonly Skill[],
  greeting: string, // of the agent, if it has one
): ReplyDraft {
  if (rule === 'greeting') return ruled(rule, greeting || sayHello(skills));
  return rule === 'thanks' ? ruled(rule, sayWelcome) : ruled(rule, sayHelp(skills));
}

const ruled = (rule: string, content: string, skills: string[] = []): ReplyDraft => ({
  routing: 'rule',
  rule,
  skills,
  messages: [{ role: 'assistant', content }],
});

async function followRule(
  service: Pick<Service, 'clock' | 'ids'>,
  asked: ReplyRequest,
  match: RuleMatch,
): Promise<ReplyDraft | Unfinished> {
  const { skills, scope } = asked;
  const { profile } = readAgentSettings(asked.tenant.settings);
  if (match.rule !== 'skill') return sayRule(match.rule, skills, profile.greeting);
  const { skill, input } = match;
  if (isPausing(asked, skill)) {
    const turn_id = service.ids.next('turn');
    const call = { tool_call_id: ruleCallOf(turn_id), name: skill.name, input };
    return unfinished(service, asked, [call], { routing: 'rule', messages: [], turn_id });
  }
  const outcome = await executeSkill(service.clock, skill, input, scope);
  const text = outcome.ok ? outcome.result.text : sayFailed(skill.name, outcome.reason);
  return ruled('skill', text, [skill.name]);
}

// The only call of a turn that a rule answers: its messages do not contain it.
export const ruleCallOf = (turn_id: string): string => turn_id.replace('turn_', 'call_');

const approvalIn = ({ tenant }: ReplyRequest, skill: Skill) =>
  approvalOf(skill, readAgentSettings(tenant.settings).skill_approvals);
const isPausing = (asked: ReplyRequest, skill: Skill): boolean =>
  skill.acts === true || approvalIn(asked, skill) !== 'never';

type SoFar = Pick<Progress, 'routing' | 'messages'> &
  Partial<Pick<Progress, 'turn_id' | 'model' | 'input_tokens' | 'output_tokens' | 'cost_micros' | 'skills'>>;

// The calls of the turn so far, with who must approve each.
function unfinished(
  { ids, clock }: Pick<Service, 'clock' | 'ids'>,
  asked: ReplyRequest,
  calls: readonly ModelCall[],
  made: SoFar,
): Unfinished {
  const { progress, scope, message_ids, emit } = asked;
  const before = made.skills ?? [];
  for (const data of calls) emit({ event: 'skill', data });
  return {
    progress: {
      input_tokens: 0,
      output_tokens: 0,
      cost_micros: 0,
      ...made,
      turn_id: progress?.turn_id ?? made.turn_id ?? ids.next('turn'),
      message_ids: [...message_ids],
      calls: calls.map((call, i) => pendingCall(asked, call, before.length + i, ids.next('apr'))),
      skills: [...before, ...calls.map(({ name }) => name)],
      created_at: progress?.created_at ?? timestampOf(clock.now()),
      ...(scope.granted !== undefined && { granted: scope.granted }),
    },
  };
}

function pendingCall(asked: ReplyRequest, call: ModelCall, made: number, approval_id: string): PendingCall {
  const { tool_call_id, name, input } = call;
  if (isCallers(asked, name)) return { ...call, refused: 'it was called with a skill: call it again, alone' };
  const skill = asked.skills.find(one => one.name === name);
  if (made >= limits.skillCalls) return { ...call, refused: 'too many calls in one turn' };
  if (!skill) return { ...call, refused: 'there is no such skill' };
  if (Buffer.byteLength(JSON.stringify(input)) > limits.skillOutputBytes) {
    const refused = `the arguments have more than ${limits.skillOutputBytes} bytes`;
    return { tool_call_id, name, input: {}, refused };
  }
  const approval = approvalIn(asked, skill);
  return approval === 'never' ? call : { ...call, approval, approval_id };
}

async function followModel(
  service: Base & ModelDeps,
  asked: ReplyRequest,
): Promise<ReplyDraft | Unfinished | undefined> {
  const { models } = service;
  const { scope, progress, options, spend } = asked;
  const settings = readAgentSettings(asked.tenant.settings);
  const { model: only } = options ?? {};
  if (!models || (await findModels({ models, settings, only })).length === 0) return undefined;
  spend.begin(progress?.cost_micros ?? 0, settings.profile.spend_per_turn_usd);
  const budget = await openBudget(service, asked.tenant, scope.user_id, { turn: spend });
  const before = options?.history
    ? splitTurns(options.history)
    : asked.tail.map(({ messages }) => parseMessages(messages));
  const turns = joinContinued([...before, asked.said]);
  const said = dropOrphans(turns.pop()!); // with the calls that the caller has made
  const within = (tokens: number) => windowOf(turns, { messages: settings.max_conversation_history, tokens });
  const system = await systemPrompt(service, asked);
  const maxOutputTokens = Math.min(
    settings.max_tokens_per_message,
    models.maxTokens ?? Infinity,
    options?.maxOutputTokens ?? Infinity,
  );
  const history = within(settings.max_context_tokens);
  const done = progress ? messagesWithResults(progress) : [];
  const promptWith = (before: readonly Message[]) => ({
    system,
    messages: [...before, ...said, ...usersFormat(asked), ...done],
    maxOutputTokens,
  });
  const watch = asked.watchCancelled();
  let text = '';
  const emit = (event: LiveEvent) => {
    if (event.event === 'delta') text += (event.data as { text: string }).text;
    else if (event.event === 'restart') text = '';
    asked.emit(event);
  };
  const costs = () => ({
    input_tokens: budget.used.input_tokens + spend.asked.input_tokens + (progress?.input_tokens ?? 0),
    output_tokens: budget.used.output_tokens + spend.asked.output_tokens + (progress?.output_tokens ?? 0),
    cost_micros: budget.used.cost_micros + spend.asked.cost_micros + (progress?.cost_micros ?? 0),
  });
  try {
    const answer = await askModel(service, {
      models,
      settings,
      options,
      prompt: promptWith(history),
      shorten: () =>
        history.length === 0 ? undefined : promptWith(within(Math.floor(tokensOfMessages(history) / 2))),
      skills: offeredSkills(asked),
      pauses: skill => isPausing(asked, skill),
      used: progress?.skills ?? [],
      stepsLeft: limits.modelSteps - done.filter(({ role }) => role === 'assistant').length,
      scope: { ...scope, signal: AbortSignal.any([scope.signal, watch.signal]) },
      budget,
      isEnabled: async name => hasSkill((await asked.refresh()).settings, name),
      emit,
    });
    if (!answer) return undefined;
    const messages = [...done, ...answer.messages];
    const made = {
      routing: 'model' as const,
      model: `${answer.name.provider}/${answer.name.model}`,
      ...costs(),
    };
    if (answer.calls.some(({ name }) => !isCallers(asked, name)))
      return unfinished(service, asked, answer.calls, { ...made, messages, skills: answer.skills });
    const whole = [...done.map(({ content }) => textOf(content)), answer.text].filter(Boolean).join('\n\n');
    return {
      ...made,
      ...(answer.finishReason && { finish_reason: answer.finishReason }),
      skills: [...new Set(answer.skills)],
      messages: boundMessages(messages, whole),
    };
  } catch (error) {
    if (!watch.signal.aborted || scope.signal.aborted) throw error;
    const stopped = stopReply(progress, cutBytes(cleanText(text), limits.replyBytes));
    return { ...stopped, routing: 'model', ...costs() };
  } finally {
    watch.stop();
    await budget.settle();
  }
}

const hasSkill = (settings: EnteredTenant['settings'], name: string): boolean =>
  name === askAgent ? readAgentSettings(settings).profile.asks.length > 0 : enabledNames(settings).has(name);

const isCallers = ({ options }: ReplyRequest, name: string): boolean =>
  options?.tools?.some(tool => tool.name === name) === true;

// A function of the caller takes the place of a skill with its name. One that must be called leaves no other choice.
function offeredSkills(asked: ReplyRequest): Skill[] {
  const { toolChoice } = asked.options ?? {};
  if (toolChoice !== undefined && toolChoice !== 'none') return [];
  return asked.skills.filter(({ name }) => !isCallers(asked, name));
}

// What is missing, and where to set it.
function whyNoModel({ models }: Pick<Service, 'models'>, { settings }: EnteredTenant): string {
  const missing = models?.missing ?? 'No provider of models is configured.';
  const { ai_provider } = settings;
  const isOwn = ai_provider !== operatorsChoice && !models?.providers?.includes(ai_provider);
  return isOwn
    ? `The tenant's settings ask for ${ai_provider}, which is not configured. ${missing}`
    : missing;
}

// Keeps the results of skills for the next turn, unless they are too large for one item.
function boundMessages(messages: Message[], text: string): Message[] {
  const isWhole = messages.length > 0 && Buffer.byteLength(JSON.stringify(messages)) <= limits.turnBytes / 2;
  return isWhole ? messages : [{ role: 'assistant', content: cutBytes(text, limits.replyBytes) }];
}
