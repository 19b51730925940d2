import type { AnyEntity } from './entity.ts';

// Builds a small item of an entity that has no example, so that its costs can be measured.

type Definition = {
  type: string;
  innerType?: Schema;
  options?: readonly Schema[];
  entries?: Record<string, unknown>;
  values?: readonly unknown[];
  shape?: Record<string, Schema>;
  in?: Schema;
};
type Schema = { _zod: { def: Definition }; safeParse(value: unknown): { success: boolean } };

const farAheadS = 4_102_444_800; // the year 2100: it must not expire while it is measured
const texts = [
  'sample',
  'sample-1',
  '1',
  '2026-01-01T00:00:00.000Z',
  '2026-01-01',
  'https://example.com/',
  'you@example.com',
  'a'.repeat(64),
  '{}',
];
const numbers = [1, 0, farAheadS, farAheadS * 1000];

export function sampleOf({ schema, key, indexes, table, kind }: AnyEntity): object {
  const inKeys = new Set([key, ...indexes].flatMap(key => key.params));
  const sample: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(schema.shape as unknown as Record<string, Schema>)) {
    if (name === 'kind' && kind !== undefined) continue;
    if (name === table.ttl) sample[name] = farAheadS;
    else if (inKeys.has(name) || !one.safeParse(undefined).success) sample[name] = sampleValue(one);
  }
  return sample;
}

function sampleValue(schema: Schema): unknown {
  const { def } = schema._zod;
  const fitting = (values: readonly unknown[]) => values.find(value => schema.safeParse(value).success);
  switch (def.type) {
    case 'string':
    case 'template_literal':
      return fitting(texts);
    case 'number':
    case 'int':
      return fitting(numbers);
    case 'boolean':
      return false;
    case 'literal':
      return def.values![0];
    case 'enum':
      return Object.values(def.entries!)[0];
    case 'union':
      return sampleValue(def.options![0]!);
    case 'pipe':
      return sampleValue(def.in!);
    case 'object':
      return Object.fromEntries(
        Object.entries(def.shape!)
          .filter(([, one]) => !one.safeParse(undefined).success)
          .map(([name, one]) => [name, sampleValue(one)]),
      );
    default:
      return def.innerType
        ? sampleValue(def.innerType)
        : fitting([[], ['sample'], {}, new Set(['sample']), new Set([1]), new Uint8Array(100), ...texts]);
  }
}
