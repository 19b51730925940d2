import type { AttributeValue, Item } from '../values/attribute-value.ts';
import type { ExpressionKind } from './ast.ts';
import { expressionError } from './cursor.ts';

// Attribute name first, then map keys and list indexes.
export type Path = readonly (string | number)[];

export function valueAt(item: Item, path: Path): AttributeValue | undefined {
  let value = item[path[0] as string];
  for (let i = 1; i < path.length && value !== undefined; i++) value = childAt(value, path[i]!);
  return value;
}

function childAt(value: AttributeValue, element: string | number): AttributeValue | undefined {
  if (typeof element === 'number') return 'L' in value ? value.L[element] : undefined;
  return 'M' in value ? value.M[element] : undefined;
}

export const formatPath = (path: Path): string =>
  `[${path.map(element => (typeof element === 'number' ? `[${element}]` : element)).join(', ')}]`;

export const equalPaths = (a: Path, b: Path): boolean =>
  a.length === b.length && a.every((element, i) => element === b[i]);

// Two paths overlap when one leads through the other, and conflict when one takes for a list what the other
// takes for a map. Overlaps are reported before conflicts.
export function assertSeparate(kind: ExpressionKind, paths: Path[]): void {
  if (paths.length < 2) return;
  const byAttribute = new Map<string | number, Path[]>();
  let conflict: [Path, Path] | undefined;
  for (const path of paths) {
    const others = byAttribute.get(path[0]!);
    if (!others) {
      byAttribute.set(path[0]!, [path]);
      continue;
    }
    for (const other of others) {
      const clash = compareSteps(other, path);
      if (clash === 'overlap') throw clashError(kind, 'overlap', other, path);
      if (clash === 'conflict') conflict ??= [other, path];
    }
    others.push(path);
  }
  if (conflict) throw clashError(kind, 'conflict', ...conflict);
}

function compareSteps(a: Path, b: Path): 'overlap' | 'conflict' | undefined {
  const length = Math.min(a.length, b.length);
  for (let i = 1; i < length; i++) {
    if (typeof a[i] !== typeof b[i]) return 'conflict';
    if (a[i] !== b[i]) return undefined;
  }
  return 'overlap';
}

const clashError = (kind: ExpressionKind, clash: string, path: Path, other: Path) =>
  expressionError(
    kind,
    `Two document paths ${clash} with each other; must remove or rewrite one of these paths; ` +
      `path one: ${formatPath(path)}, path two: ${formatPath(other)}`,
  );
