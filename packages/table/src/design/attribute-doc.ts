import type { AnyEntity } from './entity.ts';

/** An attribute of an entity, as its schema describes it. */
export type AttributeDoc = { name: string; type: string; isOptional: boolean; description: string };

// Zod's own description of a schema, as far as it is needed here.
type Definition = {
  type: string;
  innerType?: Schema;
  element?: Schema;
  valueType?: Schema;
  options?: readonly Schema[];
  entries?: Record<string, unknown>;
  values?: readonly unknown[];
  shape?: Record<string, Schema>;
  in?: Schema;
};
type Schema = { _zod: { def: Definition }; description?: string };

const wrappers = new Set(['optional', 'nullable', 'default', 'prefault', 'readonly', 'catch', 'nonoptional']);

/** The attributes of an entity, from its schema, for documentation. */
export function attributesOf({ schema, kind }: AnyEntity): AttributeDoc[] {
  const documented = Object.entries(schema.shape as Record<string, Schema>).map(([name, one]) => ({
    name,
    type: typeText(one),
    isOptional: isOptional(one),
    description: describe(one),
  }));
  if (kind === undefined || 'kind' in schema.shape) return documented;
  return [{ name: 'kind', type: `"${kind}"`, isOptional: false, description: '' }, ...documented];
}

function isOptional({ _zod: { def } }: Schema): boolean {
  if (def.type === 'optional') return true;
  return def.innerType !== undefined && def.type !== 'default' && isOptional(def.innerType);
}

const describe = (schema: Schema): string =>
  schema.description ?? (schema._zod.def.innerType ? describe(schema._zod.def.innerType) : '');

function typeText(schema: Schema): string {
  const { def } = schema._zod;
  if (def.type === 'nullable') return `${typeText(def.innerType!)} or null`;
  if (wrappers.has(def.type)) return typeText(def.innerType!);
  switch (def.type) {
    case 'enum':
      return Object.values(def.entries!)
        .map(value => JSON.stringify(value))
        .join(', ');
    case 'literal':
      return def.values!.map(value => JSON.stringify(value)).join(', ');
    case 'union':
      return def.options!.map(typeText).join(' or ');
    case 'array':
      return `list of ${typeText(def.element!)}`;
    case 'set':
      return `set of ${typeText(def.valueType!)}`;
    case 'record':
      return `map of ${typeText(def.valueType!)}`;
    case 'object':
      return `map: ${Object.keys(def.shape!).join(', ')}`;
    case 'pipe':
      return typeText(def.in!);
    default:
      return def.type;
  }
}
