import { type Budget, createBudget, spend, spendChars } from '../filters/budget.ts';
import { compilePath, readPlainPath } from '../filters/json-path.ts';
import * as limits from './limits.ts';
import type { Mapping, Transform } from './schema.ts';
import { fillTemplate, readTemplate } from './template.ts';
import type { CompiledTransform } from './transform.ts';

type FieldMap = Extract<Transform, { type: 'field_map' }>;

// Throws only OverBudget.
export function compileFieldMap({ fields, keep = false }: FieldMap): CompiledTransform {
  const writes = fields.map(field => ({ to: readPlainPath(field.to), read: compileSource(field) }));
  return (view, budget = createBudget()) => {
    const json = view.json();
    if (!json.ok) return { ok: false, reason: 'not_json', message: json.reason };
    const own = new WeakSet<object>();
    let output: unknown = keep ? json.value : {};
    for (const { to, read } of writes) {
      const value = read(json.value, budget);
      if (value !== undefined) output = writeAt(output, to, value, { own, budget });
    }
    if (!fitsJson(output, limits.outputBytes, limits.outputDepth, budget))
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

function compileSource(field: Mapping): (document: unknown, budget: Budget) => unknown {
  if ('value' in field) return () => field.value;
  if ('template' in field) {
    const template = readTemplate(field.template);
    return (document, budget) => fillTemplate(template, document, budget);
  }
  const path = compilePath(field.from);
  return (document, budget) => {
    const values = path.select(document, budget);
    if (values.length === 0) return field.default;
    return path.isWide ? values : values[0];
  };
}

type Writing = { own: WeakSet<object>; budget: Budget };

// Copies each container on the path the first time, because other connections read the same document; `own` holds the
// copies. They have no prototype, so `__proto__` in a path is a name like any other.
function writeAt(
  container: unknown,
  [step, ...rest]: readonly (string | number)[],
  value: unknown,
  writing: Writing,
): unknown {
  if (step === undefined) return value;
  if (typeof step === 'number') {
    const list = takeList(container, writing);
    while (list.length < step) list.push(null);
    list[step] = writeAt(list[step], rest, value, writing);
    return list;
  }
  const object = takeObject(container, writing);
  object[step] = writeAt(object[step], rest, value, writing);
  return object;
}

function takeList(container: unknown, { own, budget }: Writing): unknown[] {
  if (Array.isArray(container) && own.has(container)) return container;
  const copy: unknown[] = Array.isArray(container) ? [...container] : [];
  spend(budget, copy.length);
  own.add(copy);
  return copy;
}

function takeObject(container: unknown, { own, budget }: Writing): Record<string, unknown> {
  const isObject = typeof container === 'object' && container !== null && !Array.isArray(container);
  if (isObject && own.has(container)) return container as Record<string, unknown>;
  const copy: Record<string, unknown> = Object.assign(Object.create(null), isObject ? container : {});
  spend(budget, Object.keys(copy).length);
  own.add(copy);
  return copy;
}

// Whether a value can be serialised as JSON within these bounds, without serialising it: a mapping may select the same
// part of a body many times, and serialising recurses.
function fitsJson(root: unknown, mostChars: number, mostDepth: number, budget: Budget): boolean {
  let chars = 0;
  const waiting: { value: unknown; depth: number }[] = [{ value: root, depth: 0 }];
  while (waiting.length > 0) {
    const { value, depth } = waiting.pop() as (typeof waiting)[number];
    chars += 2;
    spend(budget, 1);
    if (typeof value === 'string') {
      chars += value.length;
      spendChars(budget, value.length);
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= mostDepth) return false;
      // Counted before they are added, so that `waiting` stays bounded too.
      const entries = Array.isArray(value) ? value : Object.values(value);
      if (!Array.isArray(value)) for (const name of Object.keys(value)) chars += name.length + 3;
      if (chars + entries.length > mostChars) return false;
      for (const entry of entries) waiting.push({ value: entry, depth: depth + 1 });
    }
    if (chars > mostChars) return false;
  }
  return true;
}
