import { type AttributeValue, type Item, newItem } from '../values/attribute-value.ts';
import { assertSeparate, type Path } from './path.ts';
import { parseProjection } from './projection-parser.ts';
import { resolvePath, type Scope } from './scope.ts';

// The paths as a tree: a leaf takes the whole value, a branch only the children it names.
type Branch = { names?: Map<string, Branch>; indexes?: Map<number, Branch> };

export type Projection = { paths: Path[]; root: Branch };

export function bindProjection(source: string, scope: Scope): Projection {
  const kind = 'ProjectionExpression';
  const paths = parseProjection(source, kind).map(path => resolvePath(scope, path, kind));
  assertSeparate(kind, paths);
  return createProjection(paths);
}

// For AttributesToGet and for what an index keeps: top-level attributes, no expression.
export const projectionOf = (names: string[]): Projection => createProjection(names.map(name => [name]));

export function createProjection(paths: Path[]): Projection {
  const root: Branch = {};
  for (const path of paths) {
    let branch = root;
    for (const element of path) branch = childOf(branch, element);
  }
  return { paths, root };
}

function childOf(branch: Branch, element: string | number): Branch {
  if (typeof element === 'number') {
    branch.indexes ??= new Map();
    return entryOf(branch.indexes, element);
  }
  branch.names ??= new Map();
  return entryOf(branch.names, element);
}

function entryOf<Key>(branches: Map<Key, Branch>, key: Key): Branch {
  let branch = branches.get(key);
  if (!branch) {
    branch = {};
    branches.set(key, branch);
  }
  return branch;
}

export const project = (projection: Projection, item: Item): Item =>
  pickNames(projection.root, item) ?? newItem();

function pick(branch: Branch, value: AttributeValue): AttributeValue | undefined {
  if (branch.names) {
    const members = 'M' in value ? pickNames(branch, value.M) : undefined;
    return members && { M: members };
  }
  if (branch.indexes) {
    const elements = 'L' in value ? pickIndexes(branch.indexes, value.L) : undefined;
    return elements && { L: elements };
  }
  return value;
}

// If nothing is found, nothing is returned: a projection never creates an empty map or list.
function pickNames({ names }: Branch, members: Item): Item | undefined {
  let picked: Item | undefined;
  if (!names) return picked;
  for (const [name, branch] of names) {
    const member = members[name];
    const value = member && pick(branch, member);
    if (!value) continue;
    picked ??= newItem();
    picked[name] = value;
  }
  return picked;
}

// The elements keep the order of the list, not of the paths, and move together.
function pickIndexes(indexes: Map<number, Branch>, list: AttributeValue[]): AttributeValue[] | undefined {
  const picked: AttributeValue[] = [];
  for (const index of [...indexes.keys()].sort((a, b) => a - b)) {
    const element = list[index];
    const value = element && pick(indexes.get(index)!, element);
    if (value) picked.push(value);
  }
  return picked.length > 0 ? picked : undefined;
}
