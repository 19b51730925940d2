import { encodePlain } from '../storage/plain-item.ts';
import { inputShapes } from '../validation/input-shapes.ts';
import type { Operation } from '../validation/operations.ts';
import type { Shape } from '../validation/shape.ts';
import { encoded } from '../values/attribute-value.ts';
import { marshalItem, marshalValue, type NativeItem } from '../values/marshal.ts';

// Turns the plain values in a request into tagged ones. An operation's shape says where its values are, so the
// walk is put together once an operation and touches nothing else. The caller's own objects are never changed.

type Convert = (value: unknown) => unknown;

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

// Undefined for shapes that contain no values. A value of the wrong kind is left for validation to refuse.
function compile(shape: Shape): Convert | undefined {
  switch (shape.kind) {
    case 'attributes':
      return value => (isObject(value) ? marshalItem(value as NativeItem) : value);
    case 'value':
      return value => (value === undefined ? value : marshalValue(value));
    case 'list': {
      const convert = compile(shape.of);
      return convert && (value => (Array.isArray(value) ? value.map(convert) : value));
    }
    case 'map': {
      const convert = compile(shape.of);
      return convert && (value => (isObject(value) ? mapMembers(value, Object.keys(value), convert) : value));
    }
    case 'structure':
      return compileStructure(shape.entries);
    default:
      return undefined;
  }
}

// Values of a put, as opposed to keys.
function marshalWhole(value: unknown): unknown {
  if (!isObject(value)) return value;
  const item = marshalItem(value);
  const bytes = encodePlain(value);
  if (bytes) item[encoded] = bytes;
  return item;
}

function compileStructure(entries: readonly { name: string; shape: Shape }[]): Convert | undefined {
  const members = entries.flatMap(({ name, shape }) => {
    const convert = name === 'Item' ? marshalWhole : compile(shape);
    return convert ? [{ name, convert }] : [];
  });
  if (members.length === 0) return undefined;
  return value => {
    if (!isObject(value)) return value;
    const out: Record<string, unknown> = { ...value };
    for (const { name, convert } of members) if (out[name] !== undefined) out[name] = convert(out[name]);
    return out;
  };
}

function mapMembers(
  value: Record<string, unknown>,
  names: string[],
  convert: Convert,
): Record<string, unknown> {
  const out = Object.create(null) as Record<string, unknown>;
  for (const name of names) out[name] = convert(value[name]);
  return out;
}

const unchanged: Convert = value => value;
const converters = new Map<string, Convert>(
  Object.entries(inputShapes).map(([operation, shape]) => [operation, compile(shape) ?? unchanged]),
);

export const marshalInput = (operation: Operation, input: unknown): unknown =>
  converters.get(operation)!(input);
