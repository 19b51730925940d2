import type { ZodType } from 'zod';

type Def = { type: string; [part: string]: unknown };

// Every place in a schema where an object would silently drop fields it does not know. Zod does that unless
// told otherwise, and a caller's misspelt field must be an answer, not a surprise. `z.looseObject` says that
// unknown fields are wanted, and passes.
export function checkStrict(schema: ZodType): string[] {
  const seen = new Set<unknown>();
  const visit = (inner: unknown, place: string): string[] => {
    if (!isSchema(inner) || seen.has(inner)) return [];
    seen.add(inner);
    const { def } = inner._zod;
    switch (def.type) {
      case 'object': {
        const fields = Object.entries(def.shape as Record<string, unknown>);
        const own = def.catchall === undefined ? [place] : [];
        return [...own, ...fields.flatMap(([name, field]) => visit(field, `${place}/${name}`))];
      }
      case 'array':
        return visit(def.element, `${place}/*`);
      case 'record':
      case 'map':
        return visit(def.valueType, `${place}/*`);
      case 'tuple':
        return [...(def.items as unknown[]), def.rest].flatMap(item => visit(item, `${place}/*`));
      case 'union':
        return (def.options as unknown[]).flatMap(option => visit(option, place));
      case 'intersection':
        return [...visit(def.left, place), ...visit(def.right, place)];
      case 'pipe':
        // What is sent meets the first schema; of `z.preprocess` that is the second part.
        return visit(isSchema(def.in) && def.in._zod.def.type === 'transform' ? def.out : def.in, place);
      case 'lazy':
        return visit((def.getter as () => unknown)(), place);
      default:
        return visit(def.innerType, place);
    }
  };
  return visit(schema, '#');
}

const isSchema = (value: unknown): value is { _zod: { def: Def } } =>
  typeof value === 'object' && value !== null && '_zod' in value;
