// Converts JSON Schema to TypeScript, as far as OpenAPI documents generated from Zod use it.

export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  format?: string;
  enum?: readonly unknown[];
  const?: unknown;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  prefixItems?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
};

// The name of a schema that is used more than once; undefined for one that is written inline.
export type NameOf = (schema: Schema) => string | undefined;

export function typeText(schema: Schema, nameOf: NameOf): string {
  const name = schema.$ref === undefined ? nameOf(schema) : nameOfRef(schema.$ref);
  return name ?? spellOut(schema, nameOf);
}

const nameOfRef = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

export function spellOut(schema: Schema, nameOf: NameOf): string {
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return union(alternatives.map(alternative => typeText(alternative, nameOf)));
  if (schema.allOf) return schema.allOf.map(part => `(${typeText(part, nameOf)})`).join(' & ');
  if (schema.enum) return union(schema.enum.map(value => JSON.stringify(value)));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return types.length === 0 ? 'unknown' : union(types.map(type => typed(type, schema, nameOf)));
}

const union = (types: readonly string[]): string => [...new Set(types)].join(' | ');

function typed(type: string, schema: Schema, nameOf: NameOf): string {
  switch (type) {
    case 'string':
      return schema.format === 'binary' ? 'Uint8Array' : 'string';
    case 'integer':
    case 'number':
      return 'number';
    case 'boolean':
    case 'null':
      return type;
    case 'array':
      return arrayText(schema, nameOf);
    case 'object':
      return objectText(schema, nameOf);
    default:
      throw new TypeError(`There is no type ${type}`);
  }
}

function arrayText({ items, prefixItems }: Schema, nameOf: NameOf): string {
  if (!prefixItems) return `Array<${items ? typeText(items, nameOf) : 'unknown'}>`;
  const rest = items ? `, ...Array<${typeText(items, nameOf)}>` : '';
  return `[${prefixItems.map(element => typeText(element, nameOf)).join(', ')}${rest}]`;
}

// Additional fields may have any type beside the named ones: TypeScript has no narrower type for them.
function objectText({ properties, required = [], additionalProperties }: Schema, nameOf: NameOf): string {
  const fields = Object.entries(properties ?? {}).map(
    ([name, one]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeText(one, nameOf)}`,
  );
  if (additionalProperties !== undefined && additionalProperties !== false) {
    const isPlain = additionalProperties !== true && fields.length === 0;
    fields.push(`[name: string]: ${isPlain ? typeText(additionalProperties, nameOf) : 'unknown'}`);
  }
  return fields.length === 0 ? 'Record<string, never>' : `{ ${fields.join('; ')} }`;
}
