import { compilePath, readPlainPath } from '../filters/json-path.ts';
import type { RequestView } from '../filters/request-view.ts';
import { fitsJson } from './json-size.ts';
import * as limits from './limits.ts';
import type { TransformOutcome } from './outcome.ts';
import type { Mapping, Transform } from './schema.ts';
import { fillTemplate, readTemplate } from './template.ts';

type FieldMap = Extract<Transform, { type: 'field_map' }>;
export type CompiledFieldMap = (view: RequestView) => TransformOutcome;

export function compileFieldMap({ fields, keep = false }: FieldMap): CompiledFieldMap {
  const writes = fields.map(field => ({ to: readPlainPath(field.to), read: compileSource(field) }));
  return view => {
    const json = view.json();
    if (!json.ok) return { ok: false, reason: 'not_json', message: json.reason };
    const own = new WeakSet<object>();
    let output: unknown = keep ? json.value : {};
    for (const { to, read } of writes) {
      const value = read(json.value);
      if (value !== undefined) output = writeAt(output, to, value, own);
    }
    if (!fitsJson(output, limits.outputBytes, limits.outputDepth))
      return {
        ok: false,
        reason: 'output_too_large',
        message: 'The mapped body is too large or nests too deep',
      };
    const body = Buffer.from(JSON.stringify(output));
    return body.length > limits.outputBytes
      ? { ok: false, reason: 'output_too_large', message: `The mapped body has ${body.length} bytes` }
      : { ok: true, dropped: false, body, contentType: 'application/json' };
  };
}

function compileSource(field: Mapping): (document: unknown) => unknown {
  if ('value' in field) return () => field.value;
  if ('template' in field) {
    const template = readTemplate(field.template);
    return document => fillTemplate(template, document);
  }
  const path = compilePath(field.from);
  return document => {
    const values = path.select(document);
    if (values.length === 0) return field.default;
    return path.isWide ? values : values[0];
  };
}

// Copies what lies on the way the first time, because other connections read the same document; `own` knows the
// copies. They have no prototype, so `__proto__` in a path is a name like any other.
function writeAt(
  container: unknown,
  [step, ...rest]: readonly (string | number)[],
  value: unknown,
  own: WeakSet<object>,
): unknown {
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list = takeList(container, own);
    while (list.length < step) list.push(null);
    list[step] = writeAt(list[step], rest, value, own);
    return list;
  }
  const object = takeObject(container, own);
  object[step] = writeAt(object[step], rest, value, own);
  return object;
}

function takeList(container: unknown, own: WeakSet<object>): unknown[] {
  if (Array.isArray(container) && own.has(container)) return container;
  const copy: unknown[] = Array.isArray(container) ? [...container] : [];
  own.add(copy);
  return copy;
}

function takeObject(container: unknown, own: WeakSet<object>): Record<string, unknown> {
  const isObject = typeof container === 'object' && container !== null && !Array.isArray(container);
  if (isObject && own.has(container)) return container as Record<string, unknown>;
  const copy: Record<string, unknown> = Object.assign(Object.create(null), isObject ? container : {});
  own.add(copy);
  return copy;
}
