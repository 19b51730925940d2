import { ref } from '@stak/table';
import { z } from 'zod';
import { agentOf, refOf } from '../agents/current.ts';
import { readDefinition, type Values } from '../agents/definition.ts';
import { namedAgent } from '../agents/tables.ts';
import type { Base, EnteredTenant, ModelDeps, SkillDeps } from '../deps.ts';
import * as limits from '../limits.ts';
import { askModel } from '../models/ask-model.ts';
import { openBudget, type TurnSpend } from '../models/budget.ts';
import { type AgentSettings, defaultAgent, enabledNames, readAgentSettings } from '../settings.ts';
import { enabledSkills } from '../skills/enabled-skills.ts';
import { askAgent, handOff } from '../skills/reserved-names.ts';
import { approvalOf, defineSkill, type Skill, type SkillScope } from '../skills/skill.ts';
import type { Progress } from '../state/paused.ts';
import { systemPrompt } from './system-prompt.ts';

// The skills by which one agent of a tenant hands a conversation to another, or asks it.

type Deps = Base & SkillDeps & ModelDeps;

export type Team = {
  tenant: EnteredTenant; // as the agent that answers
  refresh(): Promise<EnteredTenant>; // reads the tenant again, with its own settings
  channel: string | undefined;
  variables: Values;
  spend: TurnSpend;
  handOffs: number; // in this turn, so far
  askedBy?: readonly string[]; // agents that asked each other, up to this one
};

export async function teamSkills(service: Deps, team: Team): Promise<Skill[]> {
  const { profile } = readAgentSettings(team.tenant.settings);
  const askedBy = [...(team.askedBy ?? []), profile.name];
  const isAsked = team.askedBy !== undefined; // it answers another agent, and not the user
  const mayHandOver = !isAsked && team.handOffs < limits.handOffs;
  const mayAsk = askedBy.length < limits.agentDepth;
  const [handoffs, asks] = await Promise.all([
    mayHandOver ? findColleagues(service, team, profile.handoffs, [profile.name]) : [],
    mayAsk ? findColleagues(service, team, profile.asks, askedBy) : [],
  ]);
  return [
    ...(handoffs.length > 0 ? [handOffSkill(service, team, handoffs)] : []),
    ...(asks.length > 0 ? [askSkill(service, { ...team, askedBy }, asks)] : []),
  ];
}

type Colleague = { name: string; description: string };

// Those that are published, without the ones that are at work already.
async function findColleagues(
  { store }: Pick<Deps, 'store'>,
  { tenant: { tenant_id } }: Team,
  names: readonly string[],
  busy: readonly string[],
): Promise<Colleague[]> {
  const wanted = [...new Set(names)].filter(name => !busy.includes(name));
  const refs = wanted.filter(name => name !== defaultAgent).map(name => ref(namedAgent, { tenant_id, name }));
  const found = refs.length === 0 ? [] : await store.batchGet(refs, { pattern: 'read agents' });
  const known = new Map(
    found.flatMap(one => (one?.published === undefined ? [] : [[one.name, one.published]])),
  );
  return wanted.flatMap(name => {
    if (name === defaultAgent) return [{ name, description: 'The usual agent.' }];
    const published = known.get(name);
    return published === undefined ? [] : [{ name, description: readDefinition(published).description }];
  });
}

const listed = (colleagues: readonly Colleague[]): string =>
  colleagues.map(({ name, description }) => `- ${name}: ${description || 'no description'}`).join('\n');
const oneOf = (colleagues: readonly Colleague[]) =>
  z.enum(colleagues.map(({ name }) => name) as [string, ...string[]]).describe('The name of the agent.');

// Published or not by now, the agent is looked up again when it is called.
async function findPublished(service: Deps, team: Team, name: string): Promise<EnteredTenant> {
  const tenant = await team.refresh();
  const found = await agentOf(service, tenant, { agent: name });
  if (name !== defaultAgent && refOf(found).agent === undefined)
    throw new Error(`the agent ${name} is not there any more`);
  return found;
}

// It acts, so that its call is stored before it is made: a crash in between hands over once.
const handOffSkill = (service: Deps, team: Team, colleagues: readonly Colleague[]): Skill =>
  defineSkill({
    name: handOff,
    description: `Hands this conversation over to another agent, which answers the user now and from then on. Agents:\n${listed(colleagues)}`,
    triggers: [],
    parameters: z.strictObject({
      agent: oneOf(colleagues),
      reason: z
        .string()
        .trim()
        .max(limits.handOffChars)
        .optional()
        .describe('What the other agent should know.'),
    }),
    acts: true,
    approval: 'never',
    async run({ agent }) {
      await findPublished(service, team, agent);
      return { data: { handed_over_to: agent }, text: `Handed over to ${agent}.` };
    },
  });

// The agent that answers after these calls, if one of them has handed over.
export function handedTo({ calls }: Pick<Progress, 'calls'>): string | undefined {
  const done = calls.findLast(({ name, result }) => name === handOff && result && !result.is_error);
  return done && String(Object(done.result!.output).handed_over_to);
}

export const countHandOffs = (progress: Pick<Progress, 'skills'> | undefined): number =>
  (progress?.skills ?? []).filter(name => name === handOff).length;

const askSkill = (
  service: Deps,
  team: Team & { askedBy: readonly string[] },
  colleagues: readonly Colleague[],
): Skill =>
  defineSkill({
    name: askAgent,
    description: `Asks another agent, which answers you and not the user. It knows nothing of this conversation. Agents:\n${listed(colleagues)}`,
    triggers: [],
    parameters: z.strictObject({
      agent: oneOf(colleagues),
      question: z.string().trim().min(1).max(limits.agentQuestionChars),
    }),
    timeoutMs: limits.askAgentMs,
    async run({ agent, question }, scope) {
      const target = await findPublished(service, team, agent);
      const text = await answerColleague(service, { ...team, tenant: target }, question, scope);
      return { data: { agent, answer: text }, text };
    },
  });

// Nobody can approve anything within a call, and an asked agent does nothing that would have to be done only once: it
// has the skills that only read.
const onlyReads = (skill: Skill, { skill_approvals }: AgentSettings): boolean =>
  !skill.acts && approvalOf(skill, skill_approvals) === 'never';

async function answerColleague(
  service: Deps,
  team: Team & { askedBy: readonly string[] },
  question: string,
  scope: SkillScope,
): Promise<string> {
  const { tenant, spend } = team;
  const { models } = service;
  const settings = readAgentSettings(tenant.settings);
  const { name } = settings.profile;
  if (!models) throw new Error('no model is configured');
  const own = (await enabledSkills(service, tenant)).filter(skill => onlyReads(skill, settings));
  const skills = [...own, ...(await teamSkills(service, team))];
  const system = await systemPrompt(service, { ...team, scope });
  const budget = await openBudget(service, tenant, scope.user_id, { turn: spend, isPart: true });
  const isEnabled = async (skill: string) => {
    const now = readAgentSettings((await agentOf(service, await team.refresh(), { agent: name })).settings);
    return skill === askAgent ? now.profile.asks.length > 0 : enabledNames(now).has(skill);
  };
  try {
    const answer = await askModel(service, {
      ...{ models, settings, skills, budget, scope, isEnabled },
      prompt: {
        system,
        messages: [{ role: 'user', content: question }],
        maxOutputTokens: Math.min(settings.max_tokens_per_message, models.maxTokens ?? Infinity),
      },
      shorten: () => undefined,
      pauses: () => false,
      used: [],
      stepsLeft: limits.modelSteps,
      emit() {},
    });
    if (!answer) throw new Error('no model is configured');
    return answer.text;
  } finally {
    await budget.settle();
    spend.add(budget.used);
  }
}
