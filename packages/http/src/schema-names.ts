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
    const known = named.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
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
  const schemas = { ...visited.components?.schemas, ...Object.fromEntries(named) };
  return { ...visited, components: { ...visited.components, schemas } } as ApiDocument;
}
