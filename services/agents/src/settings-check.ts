import { z } from 'zod';
import { findAgent } from './agents/agents.ts';
import type { Base, Service, SkillDeps } from './deps.ts';
import * as limits from './limits.ts';
import { operatorsChoice } from './models/models.ts';
import { agentName } from './schema.ts';
import { approvals, defaultAgent, readAgentSettings, type TenantSettings } from './settings.ts';
import { readCustomSkills } from './skills/custom-skills.ts';
import { readMcpSkills } from './skills/mcp/servers.ts';

export type SettingsProblem = { field: string; detail: string };

// The example of the design document, which programs write as it is. Without Bedrock, the default model is used.
const documented = { provider: 'bedrock', model: 'claude-sonnet-4-5-20250929' };

// Finds settings that cannot work before they are saved. Values that were stored before are not reported again: a
// provider may have been removed since.
export async function checkSettings(
  service: Base & SkillDeps & Pick<Service, 'models'>,
  tenant_id: string,
  before: TenantSettings,
  after: TenantSettings,
): Promise<SettingsProblem[]> {
  return [
    ...(await checkModels(service, before, after)),
    ...(await checkSkills(service, tenant_id, before, after)),
    ...checkApprovals(before, after),
    ...(await checkAgents(service, tenant_id, before, after)),
  ];
}

async function checkModels(
  { models }: Pick<Service, 'models'>,
  before: TenantSettings,
  after: TenantSettings,
) {
  const problems: SettingsProblem[] = [];
  const check = async (field: string, provider: string, model: string) => {
    if (provider === documented.provider && model === documented.model) return;
    const why = models?.problemWith
      ? await models.problemWith({ provider, model })
      : 'No provider of models is configured.';
    if (why !== undefined) problems.push({ field, detail: why });
  };
  const { ai_provider, ai_model } = after;
  const isChanged = ai_provider !== before.ai_provider || ai_model !== before.ai_model;
  if (isChanged && (ai_provider === operatorsChoice) !== (ai_model === operatorsChoice))
    problems.push({
      field: ai_model === operatorsChoice ? 'ai_model' : 'ai_provider',
      detail: `Choose both, or leave both "${operatorsChoice}" for the operator's model.`,
    });
  else if (isChanged && ai_provider !== operatorsChoice) {
    const isKnown = ai_provider === documented.provider || models?.providers?.includes(ai_provider);
    await check(isKnown ? 'ai_model' : 'ai_provider', ai_provider, ai_model);
  }
  const [was, is] = [readAgentSettings(before).ai_fallback, readAgentSettings(after).ai_fallback];
  if (is && (is.provider !== was?.provider || is.model !== was.model))
    await check('ai_fallback', is.provider, is.model);
  return problems;
}

const approvalChoices = z.record(z.string(), z.enum(approvals));

// Names are not checked: an unknown skill cannot run, and may be added later.
function checkApprovals(before: TenantSettings, after: TenantSettings): SettingsProblem[] {
  const { skill_approvals: chosen, approval_hours: hours } = after;
  const problems: SettingsProblem[] = [];
  const isSame = JSON.stringify(chosen) === JSON.stringify(before.skill_approvals);
  if (chosen !== undefined && !isSame && !approvalChoices.safeParse(chosen).success)
    problems.push({
      field: 'skill_approvals',
      detail: `An object: for each name of a skill one of ${approvals.join(', ')}.`,
    });
  const isHours = typeof hours === 'number' && hours > 0 && hours <= limits.approvalHoursMost;
  if (hours !== undefined && hours !== before.approval_hours && !isHours)
    problems.push({
      field: 'approval_hours',
      detail: `A number above 0, and at most ${limits.approvalHoursMost}.`,
    });
  return problems;
}

const agentNames = z.array(agentName).max(limits.agentTargets);

async function checkAgents(
  service: Base,
  tenant_id: string,
  before: TenantSettings,
  after: TenantSettings,
): Promise<SettingsProblem[]> {
  const problems: SettingsProblem[] = [];
  const isThere = async (name: string) =>
    name === defaultAgent || (await findAgent(service, { tenant_id, name }))?.published !== undefined;
  const { default_agent: chosen } = after;
  if (chosen !== undefined && chosen !== before.default_agent)
    if (!agentName.safeParse(chosen).success || !(await isThere(String(chosen))))
      problems.push({ field: 'default_agent', detail: 'There is no published agent with this name.' });
  for (const field of ['handoffs', 'asks'] as const) {
    const names = after[field];
    if (names === undefined || JSON.stringify(names) === JSON.stringify(before[field])) continue;
    const parsed = agentNames.safeParse(names);
    if (!parsed.success) problems.push({ field, detail: 'A list of names of agents.' });
    for (const name of parsed.data ?? [])
      if (name === defaultAgent || !(await isThere(name)))
        problems.push({ field, detail: `There is no other published agent "${name}".` });
  }
  return problems;
}

async function checkSkills(
  service: Base & SkillDeps,
  tenant_id: string,
  { enabled_skills: before }: TenantSettings,
  { enabled_skills }: TenantSettings,
): Promise<SettingsProblem[]> {
  const builtIn = service.skills.map(({ name }) => name);
  const added = enabled_skills.filter(name => !before.includes(name) && !builtIn.includes(name));
  if (added.length === 0) return [];
  const own = [...(await readCustomSkills(service, tenant_id)), ...(await readMcpSkills(service, tenant_id))];
  const known = [...builtIn, ...own.map(({ name }) => name)];
  return added
    .filter(name => !known.includes(name))
    .map(name => ({
      field: 'enabled_skills',
      detail: `Unknown skill "${name}". Available: ${known.join(', ')}.`,
    }));
}
