import type { EnteredTenant, Service } from '../deps.ts';
import { agentErrors, noAgent } from '../errors.ts';
import { defaultAgent, readAgentSettings } from '../settings.ts';
import type { Caller } from '../state/access.ts';
import { findAgent, getVersion, type NamedAgent } from './agents.ts';
import { asAgent, readDefinition } from './definition.ts';

// Which agent answers, and in which version.

type Reading = Pick<Service, 'store'>;
export type AgentRef = { agent?: string; agent_version?: number };

// The number by which a conversation stays with the draft.
export const draftVersion = 0;

// The tenant as the agent of a conversation has it: in the version that the conversation stays with, or else in the one
// that is published. The settings of the tenant answer if there is no such agent any more.
export async function agentOf(
  service: Reading,
  tenant: EnteredTenant,
  { agent: name, agent_version: version }: AgentRef,
): Promise<EnteredTenant> {
  if (name === undefined || name === defaultAgent) return tenant;
  const agent = await findAgent(service, { tenant_id: tenant.tenant_id, name });
  if (!agent) return tenant;
  const found = await readVersion(service, agent, version);
  return found ? asAgent(tenant, name, found.number, readDefinition(found.text)) : tenant;
}

async function readVersion(service: Reading, agent: NamedAgent, version: number | undefined) {
  const { published, published_version = 0 } = agent;
  if (version === draftVersion) return { number: draftVersion, text: agent.draft };
  if (version !== undefined && version !== published_version) {
    const stored = await getVersion(service, agent, version).catch(error => {
      if (agentErrors.includes(error)) return undefined; // one of the oldest, which was removed
      throw error;
    });
    if (stored) return { number: version, text: stored.definition };
  }
  return published === undefined ? undefined : { number: published_version, text: published };
}

// How the agent that answers is stored: the settings of the tenant have no name.
export const refOf = ({ settings }: Pick<EnteredTenant, 'settings'>): AgentRef => {
  const { name, version } = readAgentSettings(settings).profile;
  return version === undefined ? {} : { agent: name, agent_version: version };
};

export type ChosenAgent = { agent?: string; agent_version?: number | 'draft' };

// The agent of a new conversation: the one that the caller names, or that of the tenant. A user may begin a conversation
// with an agent that is open to users, and only a host chooses a version.
export async function chooseAgent(
  service: Reading,
  caller: Pick<Caller, 'kind'> | undefined,
  { tenant_id, settings }: EnteredTenant,
  { agent: named, agent_version: version }: ChosenAgent,
): Promise<AgentRef> {
  if (caller?.kind === 'endUser' && version !== undefined)
    throw agentErrors.create('agents.agent_refused', 'Only the host can choose a version of an agent.');
  const name = named ?? usualAgent(settings);
  if (name === defaultAgent) {
    if (version === undefined) return {};
    throw agentErrors.create('agents.version_not_found', 'The settings of the tenant have no versions.');
  }
  const agent = await findAgent(service, { tenant_id, name });
  if (!agent && named === undefined) return {}; // removed since the tenant chose it
  const definition = agent?.published === undefined ? undefined : readDefinition(agent.published);
  const isHidden = caller?.kind === 'endUser' && named !== undefined && !definition?.is_open_to_users;
  if (!agent || isHidden) throw noAgent();
  if (version === 'draft') return { agent: name, agent_version: draftVersion };
  if (version !== undefined) {
    await getVersion(service, agent, version);
    return { agent: name, agent_version: version };
  }
  if (definition) return { agent: name };
  if (named === undefined) return {};
  throw agentErrors.create('agents.agent_not_published', `The agent "${name}" is not published.`);
}

// The agent of conversations whose creator names none.
const usualAgent = (settings: EnteredTenant['settings']): string => readAgentSettings(settings).default_agent;
