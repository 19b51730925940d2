import type { ZodType } from 'zod';

type Def = { type: string; [part: string]: unknown };
type Schema = ZodType & { _zod: { def: Def } };

// Finds every object in a schema that would silently drop unknown fields, which is Zod's default. A caller's misspelt
// field must be an error instead. `z.looseObject` says that unknown fields are wanted, and is accepted.
export const checkStrict = (schema: ZodType): string[] =>
  findIn(schema, ({ _zod: { def } }) => def.type === 'object' && def.catchall === undefined);

// Finds every record in a schema that a caller could fill with tens of thousands of invalid entries. Zod makes an error
// of each, even where it stops at the first one otherwise: that takes `boundedRecord`.
export const checkBounded = (schema: ZodType): string[] =>
  findIn(schema, inner => {
    const { def } = inner._zod;
    if (def.type !== 'record' || inner.meta()?.maxProperties !== undefined) return false;
    return !takesAny('string', def.keyType) || !takesAny('unknown', def.valueType);
  });

const takesAny = (kind: 'string' | 'unknown', schema: unknown): boolean => {
  const { type, checks = [] } = (schema as Schema)._zod.def;
  return type === kind && (checks as unknown[]).length === 0;
};

// Returns the paths of those parts of a schema for which `isFault` is true.
function findIn(schema: ZodType, isFault: (inner: Schema) => boolean): string[] {
  const seen = new Set<unknown>();
  const visit = (inner: unknown, path: string): string[] => {
    if (!isSchema(inner) || seen.has(inner)) return [];
    seen.add(inner);
    return [...(isFault(inner) ? [path] : []), ...visitParts(inner._zod.def, path)];
  };
  const visitParts = (def: Def, path: string): string[] => {
    switch (def.type) {
      case 'object':
        return Object.entries(def.shape as Record<string, unknown>).flatMap(([name, field]) =>
          visit(field, `${path}/${name}`),
        );
      case 'array':
        return visit(def.element, `${path}/*`);
      case 'record':
      case 'map':
        return visit(def.valueType, `${path}/*`);
      case 'tuple':
        return [...(def.items as unknown[]), def.rest].flatMap(item => visit(item, `${path}/*`));
      case 'union':
        return (def.options as unknown[]).flatMap(option => visit(option, path));
      case 'intersection':
        return [...visit(def.left, path), ...visit(def.right, path)];
      case 'pipe':
        // The first schema validates the input; for `z.preprocess` that is the second part.
        return visit(isSchema(def.in) && def.in._zod.def.type === 'transform' ? def.out : def.in, path);
      case 'lazy':
        return visit((def.getter as () => unknown)(), path);
      default:
        return visit(def.innerType, path);
    }
  };
  return visit(schema, '#');
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && '_zod' in value;
