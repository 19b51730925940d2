import type { Base, EnteredTenant, SkillDeps } from '../deps.ts';
import { enabledNames } from '../settings.ts';
import { readCustomSkills } from './custom-skills.ts';
import { readMcpSkills } from './mcp/servers.ts';
import { mcpPrefix } from './mcp/tools.ts';
import { reservedNames } from './reserved-names.ts';
import type { Skill } from './skill.ts';

// The enabled skills of a tenant. Its own skills are read only if an enabled name is not built in.
export async function enabledSkills(
  service: Base & SkillDeps,
  { tenant_id, settings }: Pick<EnteredTenant, 'tenant_id' | 'settings'>,
): Promise<Skill[]> {
  const names = enabledNames(settings);
  const builtIn = service.skills.filter(({ name }) => names.has(name));
  if (builtIn.length === names.size) return builtIn;
  const custom = (await readCustomSkills(service, tenant_id)).filter(({ name }) => names.has(name));
  const ours = new Set([...builtIn, ...custom].map(({ name }) => name));
  const mcp = [...names].some(name => name.startsWith(mcpPrefix))
    ? await readMcpSkills(service, tenant_id)
    : [];
  // A tool of an MCP server never replaces one of our skills.
  return [...builtIn, ...custom, ...mcp.filter(({ name }) => names.has(name) && !ours.has(name))];
}

// Whether some agent of the tenant may have a skill of this name.
export async function skillNames(
  service: Base & SkillDeps,
  tenant_id: string,
): Promise<(name: string) => boolean> {
  const custom = await readCustomSkills(service, tenant_id);
  const names = new Set([...service.skills, ...custom].map(({ name }) => name.toLowerCase()));
  return name => {
    const spelled = name.toLowerCase();
    return names.has(spelled) || reservedNames.has(spelled) || spelled.startsWith(mcpPrefix);
  };
}
