import type { Base, Service, SkillDeps } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import { defaultAgent } from '../settings.ts';
import { readCustomSkills } from '../skills/custom-skills.ts';
import { readMcpSkills } from '../skills/mcp/servers.ts';
import { givenVariables, variablesIn } from './definition.ts';
import type { AgentDefinition } from './schema.ts';
import { namedAgent } from './tables.ts';

type Checking = Base & SkillDeps & Pick<Service, 'models'>;
type Key = { tenant_id: string; name: string };
type Problem = { field: string; detail: string };

// Refuses a definition that cannot work, with every reason at once.
export async function checkDefinition(
  service: Checking,
  key: Key,
  definition: AgentDefinition,
): Promise<void> {
  const problems = [
    ...checkVariables(definition),
    ...(await checkModels(service, definition)),
    ...(await checkSkills(service, key.tenant_id, definition)),
    ...(await checkAgents(service, key, definition)),
  ];
  if (problems.length === 0) return;
  const what = problems.map(({ field, detail }) => `${field}: ${detail}`).join(' ');
  throw agentErrors.create('agents.agent_refused', what, { problems });
}

function checkVariables({ prompt, variables }: AgentDefinition): Problem[] {
  const given: readonly string[] = givenVariables;
  const own = Object.keys(variables);
  const taken = own.filter(name => given.includes(name));
  const unknown = variablesIn(prompt).filter(name => !given.includes(name) && !own.includes(name));
  return [
    ...taken.map(name => ({
      field: 'variables',
      detail: `Every prompt has the variable "${name}" already.`,
    })),
    ...unknown.map(name => ({
      field: 'prompt',
      detail: `Unknown variable "${name}". Available: ${[...given, ...own].join(', ')}.`,
    })),
  ];
}

async function checkModels({ models }: Checking, { model, fallbacks }: AgentDefinition): Promise<Problem[]> {
  const problems: Problem[] = [];
  const all = [...(model ? [{ field: 'model', name: model }] : []), ...fallbacks.map(named)];
  for (const { field, name } of all) {
    const detail = models?.problemWith
      ? await models.problemWith(name)
      : 'No provider of models is configured.';
    if (detail !== undefined) problems.push({ field, detail });
  }
  return problems;
}

const named = (name: AgentDefinition['fallbacks'][number]) => ({ field: 'fallbacks', name });

async function checkSkills(
  service: Checking,
  tenant_id: string,
  { skills, approvals }: AgentDefinition,
): Promise<Problem[]> {
  const builtIn = service.skills.map(({ name }) => name);
  const strange = skills.filter(name => !builtIn.includes(name));
  const own = strange.length === 0 ? [] : await readOwnNames(service, tenant_id);
  const known = [...builtIn, ...own];
  return [
    ...strange
      .filter(name => !known.includes(name))
      .map(name => ({
        field: 'skills',
        detail: `Unknown skill "${name}". Available: ${known.join(', ')}.`,
      })),
    ...Object.keys(approvals)
      .filter(name => !skills.includes(name))
      .map(name => ({ field: 'approvals', detail: `The agent does not have the skill "${name}".` })),
  ];
}

const readOwnNames = async (service: Checking, tenant_id: string): Promise<string[]> =>
  [...(await readCustomSkills(service, tenant_id)), ...(await readMcpSkills(service, tenant_id))].map(
    ({ name }) => name,
  );

// They need not be published yet: agents that know each other are saved one after the other.
async function checkAgents(
  { store }: Checking,
  { tenant_id, name: own }: Key,
  { handoffs, asks }: AgentDefinition,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [field, targets] of Object.entries({ handoffs, asks }))
    for (const name of targets) {
      if (name === own) problems.push({ field, detail: `"${name}" is the agent itself.` });
      else if (name !== defaultAgent && !(await store.get(namedAgent, { tenant_id, name })))
        problems.push({ field, detail: `There is no agent "${name}".` });
    }
  return problems;
}
