import fc from 'fast-check';

// Expressions as text in which values stand in place: `a = «{"S":"x"}»`. `bind` takes them out and numbers them.

export type Json = { [name: string]: unknown };
export type Fragment = fc.Arbitrary<string>;

const base64 = (bytes: number[]): string => Buffer.from(bytes).toString('base64');

export const strings = fc.constantFrom('', 'a', 'ab', 'abc', 'b', 'é', '😀', '\uffff');
export const numbers = fc.constantFrom(
  '0',
  '1',
  '-1',
  '2',
  '10',
  '2.5',
  '-0.5',
  '1e2',
  '100',
  '+3',
  '0.10',
  '12345678901234567890123456789012345678',
);
export const binaries = fc.constantFrom(base64([0]), base64([1]), base64([1, 2]), base64([255]), base64([]));

const scalar: fc.Arbitrary<Json> = fc.oneof(
  { arbitrary: fc.record({ S: strings }), weight: 4 },
  { arbitrary: fc.record({ N: numbers }), weight: 4 },
  fc.record({ B: binaries }),
  fc.record({ BOOL: fc.boolean() }),
  fc.constant({ NULL: true }),
);
// dynoxide tells members of a set apart by their text.
const plainNumbers = numbers.filter(text => text === String(Number(text)));
const set: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ SS: fc.uniqueArray(strings.filter(Boolean), { minLength: 1, maxLength: 3 }) }),
  fc.record({ NS: fc.uniqueArray(plainNumbers, { minLength: 1, maxLength: 3 }) }),
  fc.record({ BS: fc.uniqueArray(binaries.filter(Boolean), { minLength: 1, maxLength: 2 }) }),
);
const list = fc.record({ L: fc.array(fc.oneof(scalar, set), { maxLength: 3 }) });
const map = fc.record({
  M: fc.record({ x: scalar, y: fc.oneof(list, scalar), z: set }, { requiredKeys: [] }),
});
export const value: fc.Arbitrary<Json> = fc.oneof(
  { arbitrary: scalar, weight: 5 },
  { arbitrary: set, weight: 2 },
  list,
  map,
);

// Each attribute usually holds one of a few values: expressions then often find what they look for.
const text = fc.oneof({ arbitrary: fc.constantFrom('a', 'ab', 'b'), weight: 3 }, strings);
const count = fc.oneof({ arbitrary: fc.constantFrom('1', '2', '10'), weight: 3 }, numbers);
export const attributes: Record<string, fc.Arbitrary<Json>> = {
  a: fc.record({ S: text }),
  b: fc.record({ N: count }),
  c: fc.record({ S: text }),
  d: fc.oneof(list, set, scalar),
  e: map,
};

const attribute = fc.constantFrom('a', 'b', 'c', 'd', 'e', '‹a›', '‹b›', '‹d›', '‹e›');
const path: Fragment = fc.oneof(
  { arbitrary: attribute, weight: 5 },
  fc.constantFrom(
    'e.x',
    'e.y',
    'e.z',
    '‹e›.‹x›',
    'e.y[0]',
    'e.y[1]',
    'd[0]',
    'd[1]',
    'd[2]',
    'd[0].x',
    'e.x.x',
  ),
);
const inSitu = (json: Json): string => `«${JSON.stringify(json)}»`;
const literal: Fragment = value.map(inSitu);
const operand: Fragment = fc.oneof(
  { arbitrary: path, weight: 4 },
  { arbitrary: literal, weight: 4 },
  fc.tuple(path).map(([p]) => `size(${p})`),
);
// A path beside a value of the type that is usually there.
const fitting: fc.Arbitrary<[string, string]> = fc
  .constantFrom('a', 'b', 'c', 'd', 'e')
  .chain(name => attributes[name]!.map((json): [string, string] => [name, inSitu(json)]));

const equality = fc.constantFrom('=', '<>');
const order = fc.constantFrom('<', '<=', '>', '>=');
const ordered: fc.Arbitrary<[string, Json[]]> = fc.constantFrom('a', 'b', 'c', 'e.x', 'd[0]').chain(name => {
  const kind = name === 'b' ? fc.record({ N: count }) : fc.record({ S: text });
  return fc.tuple(fc.constant(name), fc.tuple(kind, kind)) as fc.Arbitrary<[string, Json[]]>;
});
const typeName = fc.constantFrom('S', 'N', 'B', 'SS', 'NS', 'BS', 'L', 'M', 'BOOL', 'NULL');

export const condition: Fragment = fc.letrec<{ condition: string }>(tie => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    fc.tuple(fitting, equality).map(([[p, v], op]) => `${p} ${op} ${v}`),
    fc.tuple(ordered, order).map(([[p, [v]], op]) => `${p} ${op} ${inSitu(v!)}`),
    fc.tuple(operand, equality, operand).map(([l, op, r]) => `${l} ${op} ${r}`),
    fc.tuple(path, order, operand).map(([l, op, r]) => `${l} ${op} ${r}`),
    ordered.map(([p, [v, w]]) => `${p} BETWEEN ${inSitu(v!)} AND ${inSitu(w!)}`),
    fc
      .tuple(fitting, fc.array(literal, { maxLength: 2 }))
      .map(([[p, v], more]) => `${p} IN (${[v, ...more].join(', ')})`),
    fc.tuple(fc.constantFrom('attribute_exists', 'attribute_not_exists'), path).map(([f, p]) => `${f}(${p})`),
    fc.tuple(path, typeName).map(([p, t]) => `attribute_type(${p}, ${inSitu({ S: t })})`),
    fc
      .tuple(fc.constantFrom('begins_with', 'contains'), path, scalar)
      .map(([f, p, v]) => `${f}(${p}, ${inSitu(v)})`),
    fc
      .tuple(fc.constantFrom('AND', 'OR', 'and'), tie('condition'), tie('condition'))
      .map(([op, l, r]) => `${l} ${op} ${r}`),
    tie('condition').map(inner => `NOT ${inner}`),
    tie('condition').map(inner => `(${inner})`),
  ),
})).condition;

const setValue: Fragment = fc.oneof(
  { arbitrary: literal, weight: 3 },
  path,
  fc.tuple(path, literal).map(([p, v]) => `if_not_exists(${p}, ${v})`),
  fc.tuple(path, list.map(inSitu)).map(([p, v]) => `list_append(${p}, ${v})`),
  fc.tuple(path, list.map(inSitu)).map(([p, v]) => `list_append(if_not_exists(${p}, ${v}), ${v})`),
  fc.tuple(path, fc.constantFrom('+', '-'), numbers).map(([p, op, n]) => `${p} ${op} ${inSitu({ N: n })}`),
  fc.tuple(path, numbers).map(([p, n]) => `if_not_exists(${p}, ${inSitu({ N: '0' })}) + ${inSitu({ N: n })}`),
);

const clause = (word: string, part: Fragment): Fragment =>
  fc.array(part, { minLength: 1, maxLength: 2 }).map(parts => `${word} ${parts.join(', ')}`);
const setClause = clause(
  'SET',
  fc.oneof(
    { arbitrary: fitting.map(([p, v]) => `${p} = ${v}`), weight: 3 },
    { arbitrary: fc.tuple(path, setValue).map(([p, v]) => `${p} = ${v}`), weight: 2 },
  ),
);
const removeClause = clause('REMOVE', path);
// dynoxide fills a list with NULLs when ADD reaches beyond its end, so ADD stays out of lists.
const addClause = clause(
  'ADD',
  fc.oneof(
    numbers.map(n => `b ${inSitu({ N: n })}`),
    fc
      .tuple(
        path.filter(p => !p.includes('[')),
        fc.oneof(set, fc.record({ N: numbers })),
      )
      .map(([p, v]) => `${p} ${inSitu(v)}`),
  ),
);
const deleteClause = clause(
  'DELETE',
  fc.tuple(fc.constantFrom('d', 'e.z', 'a'), set).map(([p, v]) => `${p} ${inSitu(v)}`),
);

export const update: Fragment = fc.oneof(
  { arbitrary: setClause, weight: 4 },
  { arbitrary: addClause, weight: 2 },
  removeClause,
  deleteClause,
  fc.tuple(setClause, removeClause).map(parts => parts.join(' ')),
  fc.tuple(addClause, setClause, removeClause).map(parts => parts.join(' ')),
);

export const projection: Fragment = fc
  .uniqueArray(fc.oneof(path, fc.constantFrom('pk')), { minLength: 1, maxLength: 3 })
  .map(paths => paths.join(', '));

// Nobody should send these.
export const nonsense: Fragment = fc.constantFrom(
  '',
  ' ',
  'a =',
  'a = :missing',
  '#missing = a',
  'name = a',
  'a == b',
  'SET',
  'SET a = b c = d',
  'SET a = «{"S":"x"}» SET b = «{"S":"y"}»',
  'a = b AND',
  '(a = b',
  'contains(a)',
  'unknown(a, b)',
  'size(a)',
  'a[b]',
  'a[-1] = b',
  'e..x',
  'a, b,',
  'a, a',
  'e, e.x',
  'SET e = «{"S":"x"}», e.x = «{"S":"y"}»',
  'ADD a «{"S":"x"}»',
  'DELETE d «{"N":"1"}»',
  'SET pk = «{"S":"x"}»',
  'REMOVE sk',
);

export type Bound = {
  texts: Record<string, string>;
  names: Record<string, string>;
  values: Record<string, Json>;
};

export function bind(fragments: Record<string, string | undefined>): Bound {
  const bound: Bound = { texts: {}, names: {}, values: {} };
  let count = 0;
  for (const [member, fragment] of Object.entries(fragments)) {
    if (fragment === undefined) continue;
    bound.texts[member] = fragment
      .replace(/«(.*?)»/g, (_, json: string) => {
        const placeholder = `:v${count++}`;
        bound.values[placeholder] = JSON.parse(json) as Json;
        return placeholder;
      })
      .replace(/‹(.*?)›/g, (_, name: string) => {
        bound.names[`#${name}`] = name;
        return `#${name}`;
      });
  }
  return bound;
}
