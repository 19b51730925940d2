import { isDeepStrictEqual } from 'node:util';
import { type PageRequest, versionMismatch } from '@stak/http';
import { failedCondition, type ItemOf, type NamedStep, write } from '@stak/table';
import { createWithin } from '../create-within.ts';
import { type Base, type Service, type SkillDeps, timestampOf } from '../deps.ts';
import { agentErrors, noAgent } from '../errors.ts';
import * as limits from '../limits.ts';
import { agentDay } from '../main-table.ts';
import { defaultAgent } from '../settings.ts';
import { retryOnConflict } from '../state/conflict-retry.ts';
import { dateOf, spentOf } from '../usage/quota.ts';
import { checkDefinition } from './check.ts';
import { readDefinition } from './definition.ts';
import type { AgentDefinition } from './schema.ts';
import { agentsOfTenant, agentVersion, namedAgent, versionsOfAgent } from './tables.ts';

export type NamedAgent = ItemOf<typeof namedAgent>;
export type AgentVersion = ItemOf<typeof agentVersion>;
export type AgentKey = { tenant_id: string; name: string };

type Reading = Pick<Service, 'store'>;
type Writing = Base & SkillDeps & Pick<Service, 'models' | 'random'>;

const isSettings = () =>
  agentErrors.create(
    'agents.agent_is_settings',
    `The agent \`${defaultAgent}\` is the settings of the tenant: change those.`,
  );
const noVersion = () => agentErrors.create('agents.version_not_found', 'The agent has no such version.');

export const findAgent = (
  { store }: Reading,
  { tenant_id, name }: AgentKey,
): Promise<NamedAgent | undefined> =>
  store.get(namedAgent, { tenant_id, name }, { consistent: true, pattern: 'read an agent' });

export async function getAgent(service: Reading, key: AgentKey): Promise<NamedAgent> {
  return (await findAgent(service, key)) ?? notThere();
}
const notThere = (): never => {
  throw noAgent();
};

export const listAgents = ({ store }: Reading, tenant_id: string, page: PageRequest) =>
  store.query(agentsOfTenant, { tenant_id }, page);

export const listVersions = ({ store }: Reading, { tenant_id, name }: AgentKey, page: PageRequest) =>
  store.query(versionsOfAgent, { tenant_id, name }, page);

export async function getVersion({ store }: Reading, key: AgentKey, number: number): Promise<AgentVersion> {
  const { tenant_id, name } = key;
  const options = { consistent: true, pattern: 'read a version of an agent' };
  const found = await store.get(agentVersion, { tenant_id, name, number }, options);
  if (!found) throw noVersion();
  return found;
}

type Saving = { expected: string | undefined; isNew: boolean };

// Saves the draft. What answers does not change before it is published.
export async function saveDraft(
  service: Writing,
  key: AgentKey,
  draft: AgentDefinition,
  { expected, isNew }: Saving,
): Promise<NamedAgent> {
  if (key.name === defaultAgent) throw isSettings();
  await checkDefinition(service, key, draft);
  const text = JSON.stringify(draft);
  if (Buffer.byteLength(text) > limits.agentBytes)
    throw agentErrors.create('agents.agent_refused', `An agent has at most ${limits.agentBytes} bytes.`);
  return retryOnConflict<NamedAgent>(service, async () => {
    const before = await findAgent(service, key);
    if (expected !== undefined && expected !== String(before?.version)) throw versionMismatch();
    if (isNew && before)
      throw agentErrors.create('agents.agent_exists', 'The tenant already has an agent with this name.');
    const at = timestampOf(service.clock.now());
    if (before) return replace(service, before, { draft: text, updated_at: at });
    const { tenant_id, name } = key;
    const item = { tenant_id, name, draft: text, last_version: 0, created_at: at, updated_at: at };
    const made = write.put(namedAgent, item, { ifAbsent: true });
    await createWithin(service, { tenant_id, of: 'agents' }, () => checkCount(service, tenant_id), made);
    return { ...item, version: 1 };
  });
}

// Undefined if somebody else was faster.
async function replace(
  { store }: Reading,
  before: NamedAgent,
  change: Partial<NamedAgent>,
  also: NamedStep[] = [],
): Promise<NamedAgent | undefined> {
  const { version, ...item } = { ...before, ...change };
  const step = write.put(namedAgent, item, { ifVersion: before.version });
  try {
    await store.transact([['the agent', step], ...also], { pattern: 'change an agent' });
    return { ...item, version: version + 1 };
  } catch (error) {
    if (!failedCondition(error)) throw error;
    return undefined;
  }
}

async function checkCount({ store }: Reading, tenant_id: string): Promise<void> {
  const { items } = await store.query(agentsOfTenant, { tenant_id }, { limit: limits.namedAgents });
  if (items.length >= limits.namedAgents)
    throw agentErrors.create(
      'agents.too_many_agents',
      `A tenant can have at most ${limits.namedAgents} agents.`,
    );
}

type Publication = { version?: number; note?: string };

// Makes the draft a version that answers, or an earlier version again. A draft that is the newest version already is
// not stored twice, so a repeated request publishes once.
export async function publish(
  service: Writing,
  key: AgentKey,
  { version, note }: Publication,
  expected: string | undefined,
): Promise<NamedAgent> {
  if (key.name === defaultAgent) throw isSettings();
  return retryOnConflict<NamedAgent>(service, async () => {
    const before = await getAgent(service, key);
    if (expected !== undefined && expected !== String(before.version)) throw versionMismatch();
    const at = timestampOf(service.clock.now());
    const draft = readDefinition(before.draft);
    if (version === undefined) await checkDefinition(service, key, draft);
    const number = version ?? (await numberOfDraft(service, before, draft));
    if (version !== undefined || number <= before.last_version) {
      const { definition } = await getVersion(service, key, number);
      if (before.published_version === number) return before;
      return replace(service, before, { published: definition, published_version: number, published_at: at });
    }
    if (number > limits.agentVersionMost) throw noVersion();
    const definition = JSON.stringify(draft);
    const published = { published: definition, published_version: number, published_at: at };
    const item = { ...keyOf(key), number, definition, created_at: at, ...(note && { note }) };
    const old = number - limits.agentVersions;
    const isOld = old > 0 && old !== before.published_version;
    return replace(service, before, { ...published, last_version: number }, [
      ['the version', write.put(agentVersion, item, { ifAbsent: true })],
      ...(isOld
        ? ([['the oldest', write.delete(agentVersion, { ...keyOf(key), number: old })]] as const)
        : []),
    ] as NamedStep[]);
  });
}

const keyOf = ({ tenant_id, name }: AgentKey): AgentKey => ({ tenant_id, name });

async function numberOfDraft(service: Reading, before: NamedAgent, draft: AgentDefinition): Promise<number> {
  const { last_version } = before;
  if (last_version === 0) return 1;
  const { definition } = await getVersion(service, before, last_version);
  return isDeepStrictEqual(readDefinition(definition), draft) ? last_version : last_version + 1;
}

// The versions first: if this stops in between, the agent is still there, and removing it again goes on.
export async function removeAgent(service: Reading & Pick<Service, 'clock' | 'random'>, key: AgentKey) {
  if (key.name === defaultAgent) throw isSettings();
  await retryOnConflict<true>(service, async () => {
    const { version } = await getAgent(service, key);
    const { store } = service;
    const versions: AgentVersion[] = [];
    for await (const one of store.all(versionsOfAgent, keyOf(key))) versions.push(one);
    await store.batchWrite(
      versions.map(one => write.delete(agentVersion, one)),
      { pattern: 'remove versions of an agent' },
    );
    const step = write.delete(namedAgent, key, { if: { version } });
    try {
      await store.transact({ 'the agent': step }, { pattern: 'remove an agent' });
      return true;
    } catch (error) {
      if (!failedCondition(error)) throw error;
      return undefined; // published meanwhile
    }
  });
}

// What it has spent today, in millionths of a dollar.
export async function readSpentToday(
  { store, clock }: Pick<Service, 'store' | 'clock'>,
  { tenant_id, name }: AgentKey,
): Promise<number> {
  const key = { tenant_id, agent: name, date: dateOf(clock.now()) };
  return spentOf((await store.get(agentDay, key, { consistent: true, pattern: 'read spending' })) ?? {});
}

export type Difference = { field: string; before: unknown; after: unknown };

// The fields that differ, in the order of the definition.
export function differencesOf(before: AgentDefinition | undefined, after: AgentDefinition): Difference[] {
  const fields = Object.keys(after) as (keyof AgentDefinition)[];
  return fields.flatMap(field =>
    before && isDeepStrictEqual(before[field], after[field])
      ? []
      : [{ field, before: before?.[field] ?? null, after: after[field] }],
  );
}

// The definition of a version, or the draft.
export async function definitionOf(
  service: Reading,
  agent: NamedAgent,
  which: number | 'draft',
): Promise<AgentDefinition> {
  if (which === 'draft') return readDefinition(agent.draft);
  return readDefinition((await getVersion(service, agent, which)).definition);
}
