import type { ZodType } from 'zod';

type Def = { type: string; [part: string]: unknown };

// Finds every object in a schema that would silently drop unknown fields, which is Zod's default. A caller's misspelt
// field must be an error instead. `z.looseObject` says that unknown fields are wanted, and is accepted.
export function checkStrict(schema: ZodType): string[] {
  const seen = new Set<unknown>();
  const visit = (inner: unknown, path: string): string[] => {
    if (!isSchema(inner) || seen.has(inner)) return [];
    seen.add(inner);
    const { def } = inner._zod;
    switch (def.type) {
      case 'object': {
        const fields = Object.entries(def.shape as Record<string, unknown>);
        const own = def.catchall === undefined ? [path] : [];
        return [...own, ...fields.flatMap(([name, field]) => visit(field, `${path}/${name}`))];
      }
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

const isSchema = (value: unknown): value is { _zod: { def: Def } } =>
  typeof value === 'object' && value !== null && '_zod' in value;
