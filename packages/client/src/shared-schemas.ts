import type { Schema } from './schema-type.ts';

// Finds objects that a document contains in several places, and names each after the first of them.
export function nameSharedSchemas(schemas: readonly { name: string; schema: Schema }[]): {
  nameOf(schema: Schema): string | undefined;
  named: readonly (readonly [name: string, schema: Schema])[];
} {
  const repeated = new Map<string, { name: string; schema: Schema; uses: number }>();
  const taken = new Set<string>();

  const visit = (schema: Schema, name: string): void => {
    const isObject = Object.keys(schema.properties ?? {}).length >= fieldsWorthAName;
    if (isObject) {
      const key = JSON.stringify(schema);
      const counted = repeated.get(key);
      if (counted) counted.uses += 1;
      if (counted) return; // its contents were counted with the first one
      repeated.set(key, { name, schema, uses: 1 });
    }
    for (const [field, inner] of Object.entries(schema.properties ?? {})) visit(inner, name + pascal(field));
    for (const inner of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
      visit(inner, name);
    for (const inner of schema.prefixItems ?? []) visit(inner, `${name}Item`);
    if (schema.items) visit(schema.items, `${name}Item`);
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, `${name}Value`);
  };
  for (const { name, schema } of schemas) visit(schema, name);

  const shared = new Map([...repeated].filter(([, { uses }]) => uses > 1));
  for (const schema of shared.values()) {
    while (taken.has(schema.name)) schema.name += '2';
    taken.add(schema.name);
  }
  return {
    nameOf: schema => (schema.properties ? shared.get(JSON.stringify(schema))?.name : undefined),
    named: [...shared.values()].map(({ name, schema }) => [name, schema] as const),
  };
}

const fieldsWorthAName = 3;

export const pascal = (text: string): string =>
  text
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map(part => part[0]!.toUpperCase() + part.slice(1))
    .join('');
