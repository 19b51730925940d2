import type { NativeItem } from '../values/marshal.ts';
import { checkPath, copyPlain, isBytes, isMap, type Path, rootOf, unsupported, valueAt } from './values.ts';

// Updates as data. `applyChanges` mirrors `expressions/update-application.ts`.

/** A change of one attribute, or of a member of its maps. Values are read from the item as it was. */
export type Change = {
  readonly op: 'set' | 'set_if_absent' | 'append' | 'add' | 'remove';
  readonly path: Path;
  readonly value?: unknown;
};

// An expression has at most 4096 bytes. What could come close to that is left to its parser.
const mostChanges = 40;
const mostSteps = 60;

/**
 * Checks changes before anything is read, and copies their values: the caller may change its own while the write waits
 * for its commit.
 */
export function copyChanges(changes: readonly Change[]): Change[] {
  if (changes.length === 0 || changes.length > mostChanges) throw unsupported;
  let steps = 0;
  const copies = changes.map(change => {
    checkPath(change.path);
    steps += typeof change.path === 'string' ? 1 : change.path.length;
    return { op: change.op, path: change.path, value: copyOperand(change) };
  });
  if (steps > mostSteps) throw unsupported;
  checkSeparate(copies);
  return copies;
}

function copyOperand({ op, path, value }: Change): unknown {
  switch (op) {
    case 'remove':
      return undefined;
    case 'add':
      if (!Number.isSafeInteger(value)) throw unsupported;
      return (value as number) + 0; // -0 is stored as 0
    case 'append':
      if (!Array.isArray(value)) throw unsupported;
      return copyPlain(value);
    default:
      return isBytes(value) && typeof path === 'string' ? value : copyPlain(value);
  }
}

// No path leads through another.
function checkSeparate(changes: readonly Change[]): void {
  for (let i = 1; i < changes.length; i++) {
    const path = changes[i]!.path;
    const root = rootOf(path);
    for (let j = 0; j < i; j++) {
      const other = changes[j]!.path;
      if (root === rootOf(other) && overlap(path, other)) throw unsupported;
    }
  }
}

function overlap(a: Path, b: Path): boolean {
  if (typeof a === 'string' || typeof b === 'string') return true;
  const length = Math.min(a.length, b.length);
  for (let i = 1; i < length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * Makes the changes to the item itself, but to copies of its maps. A removed attribute becomes undefined: after `delete`
 * V8 would treat the object as a dictionary. Nor is the item a copy, because V8 gives every copy of an object a shape of
 * its own when an attribute is added to it. `item` has only the key if it is new.
 */
export function applyChanges(changes: readonly Change[], item: NativeItem, isNew: boolean): NativeItem {
  let isEmpty = true;
  for (const { op, path, value } of changes) {
    if (op === 'remove') {
      if (typeof path !== 'string') {
        if (!isNew) removeAt(item, path);
      } else if (item[path] !== undefined) item[path] = undefined;
      continue;
    }
    isEmpty = false;
    // No path leads through another, so what is here is as it was.
    putAt(item, path, nextValue(op, valueAt(item, path), value));
  }
  // Changes that only remove create no item.
  if (isNew && isEmpty) throw unsupported;
  return item;
}

function nextValue(op: Change['op'], old: unknown, value: unknown): unknown {
  switch (op) {
    case 'set_if_absent':
      return old === undefined ? value : old;
    case 'append':
      if (old === undefined) return value;
      if (!Array.isArray(old)) throw unsupported;
      return [...old, ...(value as unknown[])];
    case 'add': {
      if (old === undefined) return value;
      const sum = (old as number) + (value as number);
      if (!Number.isSafeInteger(old) || !Number.isSafeInteger(sum)) throw unsupported;
      return sum;
    }
    default:
      return value;
  }
}

function putAt(item: NativeItem, path: Path, value: unknown): void {
  if (typeof path === 'string') item[path] = value;
  else holderOf(item, path)[path.at(-1)!] = value;
}

function removeAt(item: NativeItem, path: readonly string[]): void {
  delete holderOf(item, path)[path.at(-1)!];
}

// The map that holds the last name of the path. The maps on the way to it are copied.
function holderOf(item: NativeItem, path: readonly string[]): NativeItem {
  let holder = item;
  for (const name of path.slice(0, -1)) {
    const child = holder[name];
    if (!isMap(child)) throw unsupported;
    const copy = { ...child };
    holder[name] = copy;
    holder = copy;
  }
  return holder;
}
