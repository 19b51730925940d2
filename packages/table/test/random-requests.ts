import fc from 'fast-check';
import { sampleOf } from '../src/design/sample.ts';
import {
  type AnyEntity,
  type AnyQuery,
  type AnyTable,
  and,
  is,
  not,
  or,
  type Store,
  type WriteStep,
  write,
} from '../src/index.ts';

// Random requests to the entities and queries of a table, made from the examples of its design.

type Values = Record<string, unknown>;

/** One request, to be made of several stores. */
export type Request = { name: string; run(store: Store): Promise<unknown> };

/** Draws from what fast-check generates, so that a failure can be repeated and shrunk. */
export type Draw = <T>(arbitrary: fc.Arbitrary<T>) => T;

const nowS = Date.UTC(2030, 0, 1) / 1000;
const chance = (draw: Draw, percent: number): boolean => draw(fc.integer({ min: 1, max: 100 })) <= percent;
const pick = <T>(draw: Draw, values: readonly T[]): T => draw(fc.constantFrom(...values));

const examplesOf = (entity: AnyEntity): Values[] =>
  (entity.examples.length > 0 ? entity.examples : [sampleOf(entity)]) as Values[];

const isValid = ({ schema }: AnyEntity, name: string, value: unknown): boolean =>
  (schema.shape[name] as { safeParse(value: unknown): { success: boolean } }).safeParse(value).success;

const texts = fc.constantFrom('', 'a', 'b', 'ab', 'é', '\u{1F600}', '\uFFFD', 'pending', '2026-01-01');
const numbers = fc.constantFrom(0, 1, 2, -1, 0.1, 0.2, 1e21, 2 ** 53 - 1, nowS - 1, nowS, nowS + 1000);

// Another value of the same type, or sometimes of another type.
function variantOf(draw: Draw, value: unknown): unknown {
  if (chance(draw, 15)) return pick(draw, [null, true, false, 'x', 7, [], ['a'], {}, { a: 1 }]);
  if (typeof value === 'string') return chance(draw, 50) ? draw(texts) : value + draw(texts);
  if (typeof value === 'number') return chance(draw, 30) ? value : draw(numbers);
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return chance(draw, 50) ? [...value, ...value] : value.slice(1);
  if (value instanceof Uint8Array) return new Uint8Array([...value.slice(0, 3), 1]);
  if (value instanceof Set) return chance(draw, 50) ? new Set([...value, 'x']) : value;
  if (typeof value !== 'object' || value === null) return draw(fc.oneof(texts, numbers));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, variantOf(draw, one)]));
}

// An item that the schema accepts, in one of a few keys.
export function itemOf(draw: Draw, entity: AnyEntity): Values {
  const item = { ...pick(draw, examplesOf(entity)) };
  for (const name of Object.keys(entity.schema.shape)) {
    const isKey = entity.key.params.includes(name);
    if (name === entity.version || name === 'kind') continue;
    if (isKey ? !chance(draw, 20) : chance(draw, 60)) continue;
    const value = isKey
      ? keyVariant(draw, pick(draw, [item[name], ...keyValues(entity, name)]))
      : chance(draw, 20)
        ? undefined
        : variantOf(draw, item[name]);
    if (isValid(entity, name, value)) item[name] = value;
    if (item[name] === undefined) delete item[name];
  }
  return item;
}

const keyVariant = (draw: Draw, value: unknown): unknown =>
  typeof value === 'number' ? value + pick(draw, [0, 1]) : `${value}${pick(draw, ['', 'x', 'é'])}`;

// Entities that share keys meet: the values of the same attributes in all examples of their table.
function keyValues(entity: AnyEntity, name: string): unknown[] {
  const entities = 'entities' in entity.table ? (entity.table as AnyTable).entities : [entity];
  return entities.flatMap(examplesOf).flatMap(example => example[name] ?? []);
}

const keyOf = (draw: Draw, entity: AnyEntity): Values => {
  const item = itemOf(draw, entity);
  return Object.fromEntries(entity.key.params.map(name => [name, item[name]]));
};

const attributesOf = ({ schema, key }: AnyEntity): string[] =>
  Object.keys(schema.shape).filter(name => !key.params.includes(name));

function comparison(draw: Draw, value: unknown): unknown {
  const other = variantOf(draw, value) as never;
  return pick(draw, [
    value,
    other,
    is.equalTo(value),
    is.not(value),
    is.not(other),
    is.below(other),
    is.atMost(value as never),
    is.above(other),
    is.atLeast(value as never),
    is.between(other, value as never),
    is.oneOf([value, other]),
    is.startingWith(pick(draw, ['', 'a', 'p', '2026'])),
    is.containing(pick(draw, ['a', 1, '']) as never),
    is.present,
    is.absent,
  ]);
}

function conditionOf(draw: Draw, entity: AnyEntity, depth = 0): object {
  if (depth < 2 && chance(draw, 30)) {
    const parts = () => conditionOf(draw, entity, depth + 1);
    return pick(draw, [() => and(parts(), parts()), () => or(parts(), parts()), () => not(parts())])();
  }
  const names = Object.keys(entity.schema.shape);
  const item = itemOf(draw, entity);
  const condition: Values = {};
  for (let left = draw(fc.integer({ min: 1, max: 3 })); left > 0; left--) {
    const name = pick(draw, names);
    const value = item[name] ?? 'none';
    const isMap = typeof value === 'object' && Object.keys(value).length > 0 && !Array.isArray(value);
    if (isMap && chance(draw, 50)) {
      const inner = pick(draw, Object.keys(value));
      condition[`${name}.${inner}`] = comparison(draw, (value as Values)[inner]);
    } else condition[name] = comparison(draw, value);
  }
  return condition;
}

function changeOf(draw: Draw, entity: AnyEntity): object {
  const item = itemOf(draw, entity);
  const change: Record<string, Values> & { remove?: string[] } = {};
  const put = (clause: string, name: string, value: unknown) => {
    change[clause] = { ...change[clause], [name]: value };
  };
  const names = attributesOf(entity);
  if (names.length === 0) return { set: {} };
  for (let left = draw(fc.integer({ min: 1, max: 4 })); left > 0; left--) {
    const name = pick(draw, names);
    const value = item[name];
    if (chance(draw, 20)) change.remove = [...(change.remove ?? []), name];
    else if (value instanceof Set)
      put(pick(draw, ['add', 'deleteFrom', 'set']), name, new Set([...value, 'y']));
    else if (typeof value === 'number') put(pick(draw, ['add', 'set', 'setOnce']), name, draw(numbers));
    else if (Array.isArray(value)) put(pick(draw, ['append', 'set']), name, value);
    else if (typeof value === 'object' && value !== null && chance(draw, 40))
      put(pick(draw, ['set', 'setOnce', 'add']), `${name}.${pick(draw, [...Object.keys(value), 'new'])}`, 3);
    else if (value !== undefined) put(pick(draw, ['set', 'set', 'setOnce']), name, value);
  }
  return change;
}

function guardsOf(draw: Draw, entity: AnyEntity): Values {
  const guards: Values = {};
  if (chance(draw, 40)) guards.if = conditionOf(draw, entity);
  if (entity.version !== undefined && chance(draw, 30)) guards.ifVersion = pick(draw, [1, 2, 3]);
  return guards;
}

const putOptions = (draw: Draw, entity: AnyEntity): Values => ({
  ...guardsOf(draw, entity),
  ...pick(draw, [{}, {}, { ifAbsent: true }, { ifNew: true }]),
});

const updateOptions = (draw: Draw, entity: AnyEntity): Values => ({
  ...guardsOf(draw, entity),
  ...(chance(draw, 40) && { upsert: true }),
  ...(chance(draw, 70) && { current: itemOf(draw, entity) }),
});

const deleteOptions = (draw: Draw, entity: AnyEntity): Values => ({
  ...guardsOf(draw, entity),
  ...(chance(draw, 50) && { ifPresent: true }),
});

function stepOf(draw: Draw, entity: AnyEntity): WriteStep {
  const key = keyOf(draw, entity);
  return pick(draw, [
    () => write.put(entity, itemOf(draw, entity), putOptions(draw, entity)),
    () => write.update(entity, key, changeOf(draw, entity), updateOptions(draw, entity)),
    () => write.delete(entity, key, deleteOptions(draw, entity)),
    () =>
      write.check(
        entity,
        key,
        pick(draw, [
          { present: true },
          { absent: true },
          { present: true, if: conditionOf(draw, entity) },
        ]) as never,
      ),
  ])();
}

function queryOf(draw: Draw, query: AnyQuery): Request {
  const item = itemOf(draw, pick(draw, query.entities));
  const names = [...query.partitionTemplate.params];
  const sorts = query.sortTemplate?.params ?? [];
  const equal = draw(fc.integer({ min: 0, max: sorts.length }));
  names.push(...sorts.slice(0, equal));
  const params = Object.fromEntries(names.map(name => [name, item[name]]));
  const next = sorts[equal];
  const bound = () => ({ [next!]: itemOf(draw, pick(draw, query.entities))[next!] });
  const options = {
    limit: draw(fc.integer({ min: 1, max: 4 })),
    ...(chance(draw, 30) && { newestFirst: true }),
    ...(chance(draw, 20) && query.index === undefined && { consistent: true }),
    ...(chance(draw, 30) && { filter: conditionOf(draw, pick(draw, query.entities)) }),
    ...(next !== undefined && chance(draw, 40) && { [pick(draw, ['from', 'after'])]: bound() }),
    ...(next !== undefined && chance(draw, 40) && { [pick(draw, ['to', 'before'])]: bound() }),
  };
  return {
    name: `query "${query.name}"`,
    async run(store) {
      const { limit: _, ...every } = options;
      const pages: unknown[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.query(query, params as never, { ...options, cursor } as never);
        pages.push(page.items);
        ({ cursor } = page);
      } while (cursor !== undefined && pages.length < 20);
      const all: unknown[] = [];
      for await (const one of store.all(query, params as never, every as never)) all.push(one);
      return { pages, all };
    },
  };
}

/** A request to one or several items of the table. */
export function requestOf(draw: Draw, table: AnyTable): Request {
  const entity = () => pick(draw, table.entities);
  const one = entity();
  const returns = pick(draw, ['old', 'new'] as const);
  const steps = (most: number) =>
    Array.from({ length: draw(fc.integer({ min: 1, max: most })) }, () => stepOf(draw, entity()));
  const refs = () =>
    Array.from({ length: draw(fc.integer({ min: 1, max: 5 })) }, () => {
      const of = entity();
      return { entity: of, key: keyOf(draw, of) };
    });
  const kinds: (() => Request)[] = [
    () => {
      const [item, options] = [itemOf(draw, one), { ...putOptions(draw, one), returns }];
      return { name: `put ${one.name}`, run: store => store.put(one, item, options as never) };
    },
    () => {
      const [key, change] = [keyOf(draw, one), changeOf(draw, one)];
      const options = { ...updateOptions(draw, one), returns };
      return { name: `update ${one.name}`, run: store => store.update(one, key, change, options as never) };
    },
    () => {
      const [key, options] = [keyOf(draw, one), deleteOptions(draw, one)];
      return { name: `delete ${one.name}`, run: store => store.delete(one, key, options as never) };
    },
    () => {
      const [key, options] = [keyOf(draw, one), pick(draw, [{}, { consistent: true }])];
      return { name: `get ${one.name}`, run: store => store.get(one, key, options) };
    },
    () => {
      const named = Object.fromEntries(steps(4).map((step, i) => [`step ${i}`, step]));
      return { name: 'transaction', run: store => store.transact(named) };
    },
    () => {
      const groups = steps(3).map((step, i) => [[`step ${i}`, step] as const]);
      return { name: 'writes in order', run: store => store.writeInOrder(groups) };
    },
    () => {
      const puts = Array.from({ length: 3 }, entity).map(of =>
        chance(draw, 70) ? write.put(of, itemOf(draw, of)) : write.delete(of, keyOf(draw, of)),
      );
      return { name: 'batch write', run: store => store.batchWrite(puts) };
    },
    () => {
      const [keys, options] = [refs(), pick(draw, [{}, { consistent: true }])];
      return { name: 'batch get', run: store => store.batchGet(keys, options) };
    },
    () => {
      const named = Object.fromEntries(refs().map((one, i) => [`ref ${i}`, one]));
      return { name: 'read together', run: store => store.transactGet(named) };
    },
  ];
  if (table.queries.length > 0) kinds.push(() => queryOf(draw, pick(draw, table.queries)));
  // Items must exist for most requests to have an effect.
  if (chance(draw, 30)) return kinds[0]!();
  return chance(draw, 35) ? kinds[1]!() : pick(draw, kinds)();
}
