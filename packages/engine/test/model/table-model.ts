import type { AttributeValue } from '../../src/values/attribute-value.ts';
import { compareScalars } from '../../src/values/compare.ts';
import { addNumbers } from '../../src/values/number.ts';
import { byteLength, itemSize, valueSize } from '../../src/values/size.ts';

// One table as a sorted map and a list of changes: what the engine is, without how it does it.

export type ModelItem = { [name: string]: AttributeValue };
export type Key = { pk: { S: string }; sk: { N: string } };

export type Condition = 'exists' | 'absent' | { name: string; equals: AttributeValue };
export type Change = { set?: ModelItem; remove?: string[]; add?: string; addTag?: string; dropTag?: string };
export type Write =
  | { kind: 'put'; item: ModelItem & Key; condition?: Condition }
  | { kind: 'update'; key: Key; change: Change; condition?: Condition }
  | { kind: 'delete'; key: Key; condition?: Condition }
  | { kind: 'check'; key: Key; condition: Condition };

export type LogEntry = {
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE';
  at: number;
  keys: ModelItem;
  old?: ModelItem;
  new?: ModelItem;
  byService: boolean;
};

export type IndexModel = { name: string; hash: string[]; range: string[]; attributes: 'all' | string[] };

const fiveYears = 5 * 365 * 24 * 60 * 60;
const dayMs = 24 * 60 * 60_000;

const copy = (item: ModelItem): ModelItem => structuredClone(item);
const keyOf = ({ pk, sk }: ModelItem): Key => ({ pk, sk }) as Key;
const idOf = (key: ModelItem): string => JSON.stringify([key.pk, key.sk]);

// Equal items have equal text.
export const textOf = (item: ModelItem): string =>
  JSON.stringify(item, (_, member: unknown) => {
    if (Array.isArray(member)) return typeof member[0] === 'string' ? member.toSorted() : member;
    if (member === null || typeof member !== 'object') return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });

export function createModel(indexes: IndexModel[]) {
  const items = new Map<string, ModelItem>();
  let log: LogEntry[] = [];

  const find = (key: Key): ModelItem | undefined => items.get(idOf(key));
  const targetOf = (write: Write): Key => (write.kind === 'put' ? keyOf(write.item) : write.key);

  function holds(condition: Condition | undefined, item: ModelItem | undefined): boolean {
    if (condition === undefined) return true;
    if (condition === 'exists') return item !== undefined;
    if (condition === 'absent') return item === undefined;
    const value = item?.[condition.name];
    return value !== undefined && textOf({ value }) === textOf({ value: condition.equals });
  }

  function outcomeOf(write: Write, before: ModelItem | undefined): ModelItem | undefined {
    switch (write.kind) {
      case 'put':
        return copy(write.item);
      case 'update':
        return changed(write.change, before, write.key);
      case 'delete':
        return undefined;
      case 'check':
        return before;
    }
  }

  function store(key: Key, after: ModelItem | undefined, at: number, byService = false): void {
    const before = find(key);
    if (!before && !after) return;
    if (before && after && textOf(before) === textOf(after)) return;
    if (after) items.set(idOf(key), after);
    else items.delete(idOf(key));
    log.push({
      eventName: !before ? 'INSERT' : after ? 'MODIFY' : 'REMOVE',
      at,
      keys: keyOf(key),
      ...(before && { old: before }),
      ...(after && { new: after }),
      byService,
    });
  }

  // All of them, or none if a condition fails; says which failed.
  function write(writes: Write[], at: number): boolean[] {
    const verdicts = writes.map(one => holds(one.condition, find(targetOf(one))));
    if (verdicts.every(Boolean)) {
      const outcomes = writes.map(one => [targetOf(one), outcomeOf(one, find(targetOf(one)))] as const);
      for (const [key, after] of outcomes) store(key, after, at);
    }
    return verdicts;
  }

  function sweep(now: number): number {
    const expired = [...items.values()]
      .filter(item => isExpired(item.ttl, now))
      .sort((a, b) => secondsOf(a.ttl)! - secondsOf(b.ttl)! || compareKeys(a, b));
    for (const item of expired) store(keyOf(item), undefined, now, true);
    log = log.filter(({ at }) => at >= now - dayMs);
    return expired.length;
  }

  // The items with these values that have the range attributes too, in the order of those from left to right.
  function partition(values: ModelItem, range: string[]): ModelItem[] {
    const members = [...items.values()].filter(
      item =>
        Object.entries(values).every(
          ([name, v]) => item[name] && textOf({ v: item[name] }) === textOf({ v }),
        ) && range.every(name => item[name]),
    );
    const order = (a: ModelItem, b: ModelItem) =>
      range.map(name => compareScalars(a[name]!, b[name]!)).find(sign => sign !== 0) ?? 0;
    return members.sort(order);
  }

  const inIndex = ({ hash, range }: IndexModel): ModelItem[] =>
    [...items.values()].filter(item => [...hash, ...range].every(name => item[name]));

  function projected(index: IndexModel, item: ModelItem): ModelItem {
    if (index.attributes === 'all') return item;
    const names = new Set(['pk', 'sk', ...index.hash, ...index.range, ...index.attributes]);
    return Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name)));
  }

  return {
    find,
    write,
    sweep,
    partition,
    projected,
    inIndex,
    indexes,
    all: () => [...items.values()],
    log: () => log,
    bytes: () => [...items.values()].reduce((sum, item) => sum + itemSize(item), 0),
    indexBytes: (index: IndexModel) =>
      inIndex(index).reduce((sum, item) => sum + sizeOf(projected(index, item)), 0),
  };
}

export type Model = ReturnType<typeof createModel>;

const sizeOf = (item: ModelItem): number =>
  Object.entries(item).reduce((sum, [name, value]) => sum + byteLength(name) + valueSize(value), 0);

function changed({ set, remove, add, addTag, dropTag }: Change, before: ModelItem | undefined, key: Key) {
  const after: ModelItem = before ? copy(before) : copy(key);
  for (const [name, value] of Object.entries(set ?? {})) after[name] = structuredClone(value);
  for (const name of remove ?? []) delete after[name];
  const count = after.count as { N: string } | undefined;
  if (add !== undefined) after.count = { N: addNumbers(count?.N ?? '0', add) };
  const tags = new Set((after.tags as { SS: string[] } | undefined)?.SS);
  if (addTag !== undefined) tags.add(addTag);
  if (dropTag !== undefined) tags.delete(dropTag);
  if (tags.size > 0) after.tags = { SS: [...tags] };
  else delete after.tags;
  // REMOVE and DELETE alone do not make an item.
  const creates = set !== undefined || add !== undefined || addTag !== undefined;
  return before || creates ? after : undefined;
}

function secondsOf(value: AttributeValue | undefined): number | undefined {
  if (!value || !('N' in value)) return undefined;
  const seconds = Math.floor(Number(value.N));
  return seconds >= 0 && seconds < 2 ** 48 ? seconds : undefined;
}

function isExpired(value: AttributeValue | undefined, now: number): boolean {
  const seconds = secondsOf(value);
  return seconds !== undefined && seconds * 1000 < now && seconds >= Math.ceil(now / 1000) - fiveYears;
}

export const compareKeys = (a: ModelItem, b: ModelItem): number =>
  compareScalars(a.pk!, b.pk!) || compareScalars(a.sk!, b.sk!);
