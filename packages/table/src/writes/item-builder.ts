import type { z } from 'zod';
import type { Attributes } from '../client/client.ts';
import type { AnyEntity, IndexKeys } from '../design/entity.ts';
import { keyPart } from '../design/key-part.ts';
import { checkKeyLength, type KeyTemplate } from '../design/key-template.ts';
import type { Check } from '../design/schema-check.ts';

// Writes a function for each entity that makes the stored item from what a caller gives: it checks the attributes, builds
// the keys and returns all of it as one object literal. An item that grows attribute by attribute, through code that
// serves all entities, takes several times as long. Only names and literals of the design become code.

/** The stored item; undefined if only Zod can tell, or has to say what is wrong. */
export type ItemBuilder = (input: object, ifVersion: number | undefined) => Attributes | undefined;

type Parser = (value: unknown, isGiven: boolean) => unknown;
type Field = { safeParse(value: unknown): z.ZodSafeParseResult<unknown> };

// The code of a builder refers to these.
type Scope = {
  checks: Check[];
  parsers: Parser[];
  templates: KeyTemplate[];
  keyPart: typeof keyPart;
  checkKeyLength: typeof checkKeyLength;
  refused: symbol;
};

const builders = new WeakMap<AnyEntity, ItemBuilder>();

/** The builder of an entity, compiled when it is first used. */
export function builderOf(entity: AnyEntity): ItemBuilder {
  let builder = builders.get(entity);
  if (!builder) {
    builder = compileBuilder(entity);
    builders.set(entity, builder);
  }
  return builder;
}

const refused = Symbol('refused');
const leaveToZod: ItemBuilder = () => undefined;

function compileBuilder(entity: AnyEntity): ItemBuilder {
  const { checks, kind, key, indexes, inKeyOnly } = entity;
  const names = [...checks.attributes.keys()];
  const keyNames = [key, ...indexes].flatMap(({ partition, sort = [] }) => [partition, sort].flat());
  // An attribute that is a key twice is the one of the last index that has the item.
  const isUsual = new Set(keyNames).size === keyNames.length && !names.includes('__proto__');
  if (checks.hasOwnRules || !isUsual) return leaveToZod;

  const scope: Scope = { checks: [], parsers: [], templates: [], keyPart, checkKeyLength, refused };
  const variables = new Map(names.map((name, i) => [name, `a${i}`]));
  const lines = names.map(name => readLines(entity, name, variables.get(name)!, scope));
  const members = new Map<string, string>();
  for (const [i, keys] of [key, ...indexes].entries()) {
    lines.push(keyLines(keys, i, variables, scope));
    members.set(keys.partition, `p${i}`);
    if (keys.sort !== undefined) members.set(keys.sort, `s${i}`);
  }
  for (const [name, variable] of variables) if (!inKeyOnly.includes(name)) members.set(name, variable);
  if (kind !== undefined) members.set('kind', JSON.stringify(kind));
  const literal = Array.from(members, ([name, value]) => `${JSON.stringify(name)}: ${value}`).join(', ');
  return evaluate(`(input, ifVersion) => {\n${lines.join('\n')}\nreturn { ${literal} };\n}`, scope);
}

// Reads an attribute, checks it, and asks Zod if the check does not know.
function readLines(
  { checks, kind, version, schema }: AnyEntity,
  name: string,
  a: string,
  scope: Scope,
): string {
  const text = JSON.stringify(name);
  const isKind = name === 'kind' && kind !== undefined;
  const isSet = isKind || name === version;
  const given =
    name === version ? `ifVersion === undefined ? input[${text}] ?? 1 : ifVersion + 1` : `input[${text}]`;
  const mayBeAbsent = isSet || checks.mayBeAbsent.has(name);
  const field = schema.shape[name] as unknown as Field;
  const i = scope.checks.push(checks.attributes.get(name)!) - 1;
  scope.parsers.push((value, isGiven) => {
    if (!isGiven && !mayBeAbsent) return refused;
    const result = field.safeParse(value);
    return result.success ? result.data : refused;
  });
  return `let ${a} = ${isKind ? JSON.stringify(kind) : given};
if (${mayBeAbsent ? '' : `${a} === undefined || `}!check${i}(${a})) {
  ${a} = parse${i}(${a}, ${text} in input);
  if (${a} === refused) return undefined;
}`;
}

// Builds both keys of the table, or those of an index, which an item has if it has all of their attributes.
function keyLines(
  { params, templates }: IndexKeys,
  i: number,
  variables: ReadonlyMap<string, string>,
  scope: Scope,
): string {
  const isIn = i === 0 ? [] : params.map(name => `${variables.get(name)} != null`);
  const partition = `p${i} = ${keyExpression(templates.partition, variables, scope)};`;
  const sort = templates.sort ? `s${i} = ${keyExpression(templates.sort, variables, scope)};` : '';
  return `let p${i}, s${i};\nif (${isIn.join(' && ') || 'true'}) { ${partition} ${sort} }`;
}

function keyExpression(template: KeyTemplate, variables: ReadonlyMap<string, string>, scope: Scope): string {
  const { params, formats, literals } = template;
  const i = scope.templates.push(template) - 1;
  const pieces = params.flatMap((name, at) => [
    `keyPart(${JSON.stringify(name)}, ${variables.get(name)}, ${JSON.stringify(formats[at])})`,
    JSON.stringify(literals[at + 1]),
  ]);
  return `checkKeyLength(template${i}, ${[JSON.stringify(literals[0]), ...pieces].join(' + ')})`;
}

function evaluate(code: string, scope: Scope): ItemBuilder {
  const constants = [
    ...scope.checks.map((_, i) => `check${i} = scope.checks[${i}]`),
    ...scope.parsers.map((_, i) => `parse${i} = scope.parsers[${i}]`),
    ...scope.templates.map((_, i) => `template${i} = scope.templates[${i}]`),
    '{ keyPart, checkKeyLength, refused } = scope',
  ];
  return new Function('scope', `'use strict';\nconst ${constants.join(',\n')};\nreturn ${code};`)(scope);
}
