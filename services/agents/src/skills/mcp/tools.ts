import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Client } from '@modelcontextprotocol/client';
import { findProblem, type JsonObject } from '@stak/json-schema';
import { cutText } from '@stak/kit';
import { z } from 'zod';
import * as limits from '../../limits.ts';
import { cleanText } from '../../state/message-format.ts';
import { describeIssue } from './client.ts';

export type McpTool = {
  name: string; // as the server names it
  skill: string; // as models and the settings name it
  description: string;
  parameters: JsonObject;
  isRepeatable: boolean;
  hash?: string; // of its definition; tools from before there were hashes have none
  changedFrom?: string; // the accepted description: it is disabled until the new definition is accepted
};
export type SkippedTool = { name: string; reason: string };
type ListedTool = Omit<McpTool, 'skill' | 'changedFrom'> & { hash: string };
export type ToolList = { tools: ListedTool[]; skipped: SkippedTool[]; revision?: string };

export const mcpPrefix = 'mcp_';

const plainSkill = (server: string, tool: string): string =>
  `${mcpPrefix}${server}_${tool.toLowerCase().replace(/[^a-z0-9_]/g, '_')}`;

// With a prefix that no other skill has, and in characters that providers accept. Two names that would become the same
// differ by a hash. A server's name has no underscore, so tools of two servers never share a name.
function skillName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = plainSkill(server, tool);
  if (plain.length <= limits.skillNameChars && !taken.has(plain)) return plain;
  // Again if another tool has the name with the hash, which its server chose.
  for (let hashed = tool; ; hashed += ' ') {
    const hash = createHash('sha256').update(hashed).digest('hex').slice(0, 8);
    const name = `${plain.slice(0, limits.skillNameChars - 9)}_${hash}`;
    if (!taken.has(name)) return name;
  }
}

// Each tool is read by itself: one that cannot be used does not take the others with it.
const toolsPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const hint = z.boolean().optional().catch(undefined);
const toolDefinition = z.looseObject({
  name: z.string().min(1),
  description: z.string().optional(),
  inputSchema: z.looseObject({ type: z.literal('object') }),
  annotations: z.looseObject({ readOnlyHint: hint, idempotentHint: hint }).optional(),
});

const nameIn = (tool: unknown): string =>
  cutText(cleanText(String(Object(tool).name ?? '?')), limits.mcpToolNameChars);

function isNestedWithin(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every(one => isNestedWithin(one, depth - 1));
}

// Everything that a model reads about a tool, and that the server promises of it. The order of fields means nothing.
function hashOf({ description, inputSchema, annotations }: z.infer<typeof toolDefinition>): string {
  const text = JSON.stringify([description, sorted(inputSchema), sorted(annotations)]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one)]));
}

// The accepted hash of each name that the server has had, and the skill that it became. Earlier versions kept the hash
// alone.
export type Pins = Record<string, { hash: string; skill: string } | string>;

const hashIn = (pin: Pins[string]): string => (typeof pin === 'string' ? pin : pin.hash);

type Before = { tools: readonly McpTool[]; pins: Pins };

// A skill is enabled by its name. So a tool keeps the one that it had, and no other tool ever gets it, whether or not it
// is still listed, and in whatever order: its server could give it to a definition that nobody has accepted.
function createSkillNames(server: string, { tools, pins }: Before) {
  const skills = new Map(tools.map(({ name, skill }) => [name, skill]));
  for (const [name, pin] of Object.entries(pins))
    if (typeof pin !== 'string') skills.set(name, pin.skill);
    else if (!skills.has(name)) skills.set(name, plainSkill(server, name));
  const taken = new Set(skills.values());
  return (tool: string): string => {
    const skill = skills.get(tool) ?? skillName(server, tool, taken);
    taken.add(skill);
    return skill;
  };
}

// Compares a new list with the definitions that were accepted. What is listed for the first time is accepted, as it is
// not enabled yet; a changed one is disabled until an administrator accepts it, and so is one that was gone meanwhile.
export function pinTools(
  server: string,
  { tools, skipped }: ToolList,
  before: Before,
): { tools: McpTool[]; skipped: SkippedTool[]; pins: Pins } {
  const pins = new Map(Object.entries(before.pins));
  const known = new Map(before.tools.map(tool => [tool.name, tool]));
  const skillOf = createSkillNames(server, before);
  const kept: McpTool[] = [];
  const tooMany: SkippedTool[] = [];
  for (const listed of tools) {
    const { name, hash } = listed;
    const earlier = known.get(name);
    const pin = pins.get(name);
    const accepted =
      pin === undefined ? earlier && (isSameAs(earlier, listed) ? hash : 'another') : hashIn(pin);
    if (accepted === undefined && pins.size >= limits.mcpPins) {
      tooMany.push({ name, reason: 'The server has had too many tools. Remove it and add it again.' });
      continue;
    }
    const tool: McpTool = { ...listed, skill: skillOf(name) };
    pins.set(name, { hash: accepted ?? hash, skill: tool.skill });
    if (accepted === undefined || accepted === hash) kept.push(tool);
    else kept.push({ ...tool, changedFrom: earlier?.changedFrom ?? earlier?.description ?? '' });
  }
  return {
    tools: kept,
    skipped: [...skipped, ...tooMany].slice(0, limits.mcpTools),
    pins: Object.fromEntries(pins),
  };
}

// For lists from before there were hashes.
const isSameAs = (earlier: McpTool, tool: ListedTool): boolean =>
  earlier.description === tool.description &&
  earlier.isRepeatable === tool.isRepeatable &&
  isDeepStrictEqual(earlier.parameters, tool.parameters);

// The usable part of a server's tools: a model gets all of them with every message, and a provider refuses a whole
// message for one schema that it does not support.
export async function readTools(client: Client): Promise<ToolList> {
  const revision = client.getNegotiatedProtocolVersion();
  const list: ToolList = { tools: [], skipped: [], ...(revision !== undefined && { revision }) };
  const skip = (name: string, reason: string) => {
    if (list.skipped.length < limits.mcpTools) list.skipped.push({ name, reason });
  };
  const names = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < limits.mcpPages; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params }, toolsPage);
    for (const listed of answer.tools) {
      if (!isNestedWithin(listed, limits.mcpToolDepth)) {
        skip(nameIn(listed), 'Its definition is not valid: it is nested too deep.');
        continue;
      }
      const parsed = toolDefinition.safeParse(listed);
      if (!parsed.success) {
        skip(nameIn(listed), `Its definition is not valid: ${describeIssue(parsed.error)}.`);
        continue;
      }
      const tool = parsed.data;
      const parameters = simplify(tool.inputSchema, limits.schemaDepth - 2) as JsonObject;
      const reason =
        list.tools.length >= limits.mcpTools
          ? `A server has at most ${limits.mcpTools} tools here.`
          : findProblem(parameters, bounds);
      const name = cutText(cleanText(tool.name), limits.mcpToolNameChars);
      if (reason !== undefined || name !== tool.name) {
        skip(name, reason ?? 'Its name cannot be used.');
        continue;
      }
      // It could not be told which of the two was accepted.
      if (names.has(name)) {
        skip(name, 'Another tool has the same name.');
        continue;
      }
      names.add(name);
      const { readOnlyHint, idempotentHint } = tool.annotations ?? {};
      list.tools.push({
        name,
        description: cutText(cleanText(tool.description ?? tool.name), limits.skillDescriptionChars),
        parameters,
        isRepeatable: readOnlyHint === true || idempotentHint === true,
        hash: hashOf(tool),
      });
    }
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  while (Buffer.byteLength(JSON.stringify(list)) > limits.mcpListBytes) {
    const dropped = list.tools.pop();
    if (!dropped) throw new Error('its list of tools is too long');
    list.skipped = [{ name: dropped.name, reason: 'The list of tools is too long.' }, ...list.skipped].slice(
      0,
      20,
    );
  }
  return list;
}

const bounds = {
  bytes: limits.schemaBytes,
  parts: limits.schemaParts,
  depth: limits.schemaDepth,
  object: 'Parameters',
};

const plainKeywords = new Set([
  ...['type', 'enum', 'const', 'title', 'description', 'default', 'required', 'multipleOf'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
]);
const schemaKeywords = new Set(['items', 'additionalProperties', 'not']);
const listKeywords = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);

// Removes what some providers do not support, such as references: the server validates its arguments itself.
function simplify(schema: unknown, depth: number): unknown {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  if (depth < 0) return {};
  const inner = (value: unknown) => simplify(value, depth - 1);
  const kept: [string, unknown][] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (plainKeywords.has(keyword)) kept.push([keyword, value]);
    else if (schemaKeywords.has(keyword)) kept.push([keyword, inner(value)]);
    else if (listKeywords.has(keyword) && Array.isArray(value)) kept.push([keyword, value.map(inner)]);
    else if (keyword === 'properties' && typeof value === 'object' && value !== null) {
      const properties = Object.entries(value).map(([name, one]) => [name, inner(one)]);
      kept.push([keyword, Object.fromEntries(properties)]);
    }
  }
  return Object.fromEntries(kept);
}
