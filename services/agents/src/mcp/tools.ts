import { createHash } from 'node:crypto';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { findProblem, type JsonObject } from '@stak/json-schema';
import { cutText } from '@stak/kit';
import { cleanText } from '../conversations/message-format.ts';
import * as limits from '../limits.ts';

export type McpTool = {
  name: string; // as the server names it
  skill: string; // as models and the settings name it
  description: string;
  parameters: JsonObject;
  isRepeatable: boolean;
};
export type SkippedTool = { name: string; reason: string };
export type ToolList = { tools: McpTool[]; skipped: SkippedTool[] };

export const mcpPrefix = 'mcp_';

// With a prefix that no other skill has, and in characters that providers accept. Two names that would become the same
// differ by a hash. A server's name has no underscore, so tools of two servers never share a name.
function skillName(server: string, tool: string, taken: ReadonlySet<string>): string {
  const plain = `${mcpPrefix}${server}_${tool.toLowerCase().replace(/[^a-z0-9_]/g, '_')}`;
  if (plain.length <= limits.skillNameChars && !taken.has(plain)) return plain;
  // Again if another tool has the name with the hash, which its server chose.
  for (let hashed = tool; ; hashed += ' ') {
    const hash = createHash('sha256').update(hashed).digest('hex').slice(0, 8);
    const name = `${plain.slice(0, limits.skillNameChars - 9)}_${hash}`;
    if (!taken.has(name)) return name;
  }
}

// The usable part of a server's tools: a model gets all of them with every message, and a provider refuses a whole
// message for one schema that it does not support.
export async function readTools(client: Client, server: string): Promise<ToolList> {
  const list: ToolList = { tools: [], skipped: [] };
  const taken = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < limits.mcpPages; page++) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor });
    for (const tool of answer.tools) {
      const parameters = simplify(tool.inputSchema, limits.schemaDepth - 2) as JsonObject;
      const reason =
        list.tools.length >= limits.mcpTools
          ? `A server has at most ${limits.mcpTools} tools here.`
          : findProblem(parameters, bounds);
      const name = cutText(cleanText(tool.name), limits.mcpToolNameChars);
      if (reason !== undefined || name !== tool.name) {
        if (list.skipped.length < limits.mcpTools)
          list.skipped.push({ name, reason: reason ?? 'Its name cannot be used.' });
        continue;
      }
      const skill = skillName(server, tool.name, taken);
      taken.add(skill);
      const { readOnlyHint, idempotentHint } = tool.annotations ?? {};
      list.tools.push({
        name,
        skill,
        description: cutText(cleanText(tool.description ?? tool.name), limits.skillDescriptionChars),
        parameters,
        isRepeatable: readOnlyHint === true || idempotentHint === true,
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
