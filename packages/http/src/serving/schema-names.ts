import { type ZodType, z } from 'zod';
import type { ApiDocument } from './openapi.ts';

const mark = 'x-component';

/** Gives schemas the names that they have in the document, in clients and in the reference. */
// In place: what extends a named schema has no name, or one of its own.
export function nameSchemas(schemas: Readonly<Record<string, ZodType>>): void {
  for (const [name, schema] of Object.entries(schemas))
    z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), [mark]: name });
}

type Json = { [key: string]: unknown };

/** Moves named schemas to the components of a document, and refers to them wherever they are used. */
export function hoistNamedSchemas(document: ApiDocument): ApiDocument {
  const named = new Map<string, Json>();

  const refer = (name: string, { description, default: absent, type, ...rest }: Json): Json => {
    const isNullable = Array.isArray(type) && type.includes('null');
    const schema = { type: isNullable ? 'object' : type, ...rest };
    const existing = named.get(name);
    if (existing && JSON.stringify(existing) !== JSON.stringify(schema))
      throw new TypeError(`Two schemas are named ${name}`);
    named.set(name, schema);
    const ref = { $ref: `#/components/schemas/${name}` };
    return {
      ...(isNullable ? { anyOf: [ref, { type: 'null' }] } : ref),
      ...(description !== undefined && { description }),
      ...(absent !== undefined && { default: absent }),
    };
  };
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const { [mark]: name, ...rest } = value as Json;
    const visited = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, visit(inner)]));
    return typeof name === 'string' ? refer(name, visited) : visited;
  };

  const visited = visit(document) as ApiDocument;
  const { components, ...rest } = visited;
  const parts = { ...rest, schemas: { ...components?.schemas, ...Object.fromEntries(named) } };
  const { schemas, ...all } = referToEquals(parts, new Set(named.keys()));
  return { ...all, components: { ...components, schemas } } as ApiDocument;
}

type Parts = { schemas: Json };

// A schema equal to a named one refers to it, too. A named schema may contain others, which change it.
function referToEquals(parts: Parts, names: ReadonlySet<string>): Parts {
  let current = parts;
  for (let before = ''; before !== JSON.stringify(current); ) {
    before = JSON.stringify(current);
    const nameOf = new Map([...names].map(name => [JSON.stringify(current.schemas[name]), name]));
    const visit = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(visit);
      if (typeof value !== 'object' || value === null) return value;
      const { description, default: absent, ...schema } = value as Json;
      const name = 'properties' in schema ? nameOf.get(JSON.stringify(schema)) : undefined;
      if (name === undefined)
        return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, visit(inner)]));
      return {
        $ref: `#/components/schemas/${name}`,
        ...(description !== undefined && { description }),
        ...(absent !== undefined && { default: absent }),
      };
    };
    const inside = (schema: unknown): unknown =>
      Object.fromEntries(Object.entries(schema as Json).map(([key, inner]) => [key, visit(inner)]));
    const { schemas, ...others } = current;
    const visited = Object.entries(schemas).map(([name, schema]) => [name, inside(schema)]);
    current = { ...(visit(others) as object), schemas: Object.fromEntries(visited) };
  }
  return current;
}
