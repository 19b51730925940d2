import { createHmac, randomBytes } from 'node:crypto';
import { versionMismatch } from '@stak/http';
import { findMismatch, findProblem, type JsonObject } from '@stak/json-schema';
import { type ItemOf, isRefused, write } from '@stak/table';
import { z } from 'zod';
import { createWithin } from '../create-within.ts';
import { type Base, type Service, type SkillDeps, secondsOf, timestampOf } from '../deps.ts';
import { agentErrors } from '../errors.ts';
import * as limits from '../limits.ts';
import { retryOnConflict } from '../state/conflict-retry.ts';
import { mcpPrefix } from './mcp/tools.ts';
import { reservedNames } from './reserved-names.ts';
import { executeSkill } from './run-skill.ts';
import { OutcomeUnknown, refusalOf, type Skill, type SkillScope } from './skill.ts';
import { customSkill, skillsOfTenant } from './tables.ts';

export type CustomSkill = ItemOf<typeof customSkill>;
type CallableSkill = Omit<CustomSkill, 'created_at' | 'updated_at' | 'version'>;
export type SkillDraft = { description: string; triggers: string[]; parameters: JsonObject; url: string };

const skillExists = () =>
  agentErrors.create('agents.skill_exists', 'The tenant already has a skill with this name.');
const noSkill = () => agentErrors.create('agents.skill_not_found', 'Skill not found.');
const sealLocation = (tenant_id: string, name: string) =>
  `conversations SKILLS#${tenant_id} SKILL#${name} secret`;
const createSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const sealSecret = ({ sealer }: Pick<Service, 'sealer'>, tenant_id: string, name: string, secret: string) =>
  sealer.seal(secret, sealLocation(tenant_id, name));

// The secret is generated here and shown once, when the skill is new.
export async function putCustomSkill(
  service: SkillDeps & Pick<Service, 'store' | 'clock' | 'random'>,
  tenant_id: string,
  name: string,
  draft: SkillDraft,
  { expected, isNew }: { expected: string | undefined; isNew: boolean },
): Promise<{ item: CustomSkill; secret?: string }> {
  checkDraft(service, name, draft);
  return retryOnConflict(service, async () => {
    const before = await service.store.get(customSkill, { tenant_id, name }, { consistent: true });
    if (expected !== undefined && expected !== String(before?.version)) throw versionMismatch();
    if (isNew && before) throw skillExists();
    const at = timestampOf(service.clock.now());
    const secret = before ? undefined : createSecret();
    const item = {
      tenant_id,
      name,
      ...draft,
      parameters: JSON.stringify(draft.parameters),
      secret: secret ? sealSecret(service, tenant_id, name, secret) : before!.secret,
      created_at: before?.created_at ?? at,
      updated_at: at,
    };
    if (before)
      return { item: await service.store.put(customSkill, item, { ifVersion: before.version }), secret };
    const made = write.put(customSkill, item, { ifAbsent: true });
    await createWithin(service, { tenant_id, of: 'skills' }, () => checkCount(service, tenant_id), made);
    return { item: { ...item, version: 1 }, secret };
  });
}

function checkDraft({ outbound, skills }: SkillDeps, name: string, { url, parameters }: SkillDraft): void {
  if (skills.some(skill => skill.name === name))
    throw agentErrors.create('agents.skill_name_taken', 'A built-in skill has this name.');
  if (reservedNames.has(name))
    throw agentErrors.create('agents.skill_name_taken', 'Agents have a skill with this name.');
  if (name.startsWith(mcpPrefix))
    throw agentErrors.create(
      'agents.skill_name_taken',
      `Names that start with ${mcpPrefix} are reserved for MCP servers.`,
    );
  const refusal = outbound.check(url);
  if (refusal) throw agentErrors.create('agents.skill_refused', refusal.message, { reason: refusal.reason });
  const problem = findProblem(parameters, {
    bytes: limits.schemaBytes,
    parts: limits.schemaParts,
    depth: limits.schemaDepth,
    object: 'Parameters',
  });
  if (problem !== undefined) throw agentErrors.create('agents.skill_refused', problem);
}

async function checkCount({ store }: Pick<Service, 'store'>, tenant_id: string): Promise<void> {
  const { items } = await store.query(skillsOfTenant, { tenant_id }, { limit: limits.customSkills });
  if (items.length >= limits.customSkills)
    throw agentErrors.create(
      'agents.too_many_skills',
      `A tenant can have at most ${limits.customSkills} skills.`,
    );
}

export async function getCustomSkill(
  { store }: Pick<Service, 'store'>,
  tenant_id: string,
  name: string,
): Promise<CustomSkill> {
  const item = await store.get(customSkill, { tenant_id, name }, { consistent: true });
  if (!item) throw noSkill();
  return item;
}

export async function deleteCustomSkill(
  { store }: Pick<Service, 'store'>,
  tenant_id: string,
  name: string,
): Promise<void> {
  try {
    await store.delete(customSkill, { tenant_id, name }, { ifPresent: true });
  } catch (error) {
    throw isRefused(error) ? noSkill() : error;
  }
}

export async function readCustomSkills(
  service: SkillDeps & Pick<Service, 'store' | 'clock'>,
  tenant_id: string,
): Promise<Skill[]> {
  const { items } = await service.store.query(skillsOfTenant, { tenant_id }, { limit: limits.customSkills });
  return items.map(item => toSkill(service, item));
}

async function skillToTest(
  service: SkillDeps & Pick<Service, 'store'>,
  tenant_id: string,
  name: string,
  draft: SkillDraft | undefined,
): Promise<CallableSkill> {
  if (!draft) return getCustomSkill(service, tenant_id, name);
  checkDraft(service, name, draft);
  const stored = await service.store.get(customSkill, { tenant_id, name }, { consistent: true });
  // The secret of a new skill is created when it is stored, so nobody knows the one that signs this call.
  const secret = stored?.secret ?? sealSecret(service, tenant_id, name, createSecret());
  return { tenant_id, name, ...draft, parameters: JSON.stringify(draft.parameters), secret };
}

// Makes the same call as a turn, without a turn. With a draft, tests it before it is stored.
export async function testCustomSkill(
  service: Base & SkillDeps,
  whose: { tenant_id: string; account_id: string },
  name: string,
  { arguments: input, draft }: { arguments: unknown; draft?: SkillDraft },
  signal: AbortSignal,
) {
  const { clock, ids } = service;
  const skill = toSkill(service, await skillToTest(service, whose.tenant_id, name, draft));
  const scope = {
    ...whose,
    user_id: undefined,
    conversation_id: 'test',
    signal,
    idempotency_key: ids.next('tst'),
  };
  const startMs = clock.now();
  const outcome = await executeSkill(clock, skill, input, scope);
  const duration_ms = Math.round(clock.now() - startMs);
  return outcome.ok
    ? { ok: true, output: outcome.result.data, text: outcome.result.text, reason: null, duration_ms }
    : { ok: false, output: null, text: null, reason: outcome.reason, duration_ms };
}

function toSkill(service: SkillDeps & Pick<Service, 'clock'>, item: CallableSkill): Skill {
  const jsonSchema = JSON.parse(item.parameters) as JsonObject;
  return {
    name: item.name,
    description: item.description,
    triggers: item.triggers,
    parameters: z.looseObject({}),
    jsonSchema,
    acts: true, // assumed
    approval: 'never', // the tenant's own server; the settings may override it
    async run(input, scope) {
      const mismatch = findMismatch(jsonSchema, input);
      if (mismatch) throw new Error(`invalid arguments: ${mismatch.pointer} ${mismatch.detail}`);
      const answer = await callSkill(service, item, input, scope);
      return { data: answer, text: textOf(answer) };
    },
  };
}

// The text for a user. A skill with data for the model and a sentence for the user returns the sentence as `text`.
function textOf(answer: unknown): string {
  if (typeof answer === 'string') return answer;
  const { text } = Object(answer) as { text?: unknown };
  if (typeof text === 'string') return text;
  const plain = JSON.stringify(answer);
  // Indentation grows with the square of the depth: 64 KB can become hundreds of megabytes.
  return plain.length > limits.indentedChars ? plain : JSON.stringify(answer, null, 2);
}

// Signed like Standard Webhooks: id, time and body, so that the other side can refuse forged and repeated calls.
async function callSkill(
  service: SkillDeps & Pick<Service, 'clock'>,
  { tenant_id, name, url, secret }: CallableSkill,
  input: unknown,
  { conversation_id, user_id, signal, idempotency_key }: SkillScope,
): Promise<unknown> {
  const id = idempotency_key!; // the same if a call is repeated
  const timestamp = String(secondsOf(service.clock.now()));
  const body = JSON.stringify({ skill: name, arguments: input, conversation_id, user_id: user_id ?? null });
  const key = service.sealer.openText(secret, sealLocation(tenant_id, name)).slice('whsec_'.length);
  const signature = createHmac('sha256', Buffer.from(key, 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest('base64');
  const result = await service.outbound.send({
    url,
    method: 'POST',
    headers: [
      ['content-type', 'application/json'],
      ['webhook-id', id],
      ['webhook-timestamp', timestamp],
      ['webhook-signature', `v1,${signature}`],
    ],
    body,
    signal,
    timeoutMs: limits.skillMs,
  });
  if (!result.ok && result.isSent) throw new OutcomeUnknown(`it did not answer (${result.reason})`);
  if (!result.ok) throw new Error(`it could not be reached (${result.reason})`);
  if (result.status < 200 || result.status > 299) throw refusalOf(result.status);
  const text = Buffer.from(result.body).toString();
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
