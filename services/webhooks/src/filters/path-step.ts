import { type Budget, spend } from './budget.ts';

export class PathError extends Error {
  override readonly name = 'PathError';
}

// Appends what one step of a path selects in a value to `found`.
export type Choose = (value: unknown, found: unknown[], budget: Budget) => void;

export const chooseName =
  (name: string): Choose =>
  (value, found) => {
    if (isObject(value) && Object.hasOwn(value, name)) found.push(value[name]);
  };

export const chooseIndex =
  (index: number): Choose =>
  (value, found) => {
    if (!Array.isArray(value)) return;
    const at = index < 0 ? value.length + index : index;
    if (at >= 0 && at < value.length) found.push(value[at]);
  };

export const chooseChildren =
  (holds: (child: unknown) => boolean, cost = 1): Choose =>
  (value, found, budget) => {
    const children = childrenOf(value);
    spend(budget, children.length * cost);
    for (const child of children) if (holds(child)) found.push(child);
  };

// RFC 9535, 2.3.4.2.2: bounds default by the step's direction, count from the end when negative, and are clamped.
export function chooseSlice(slice: {
  start?: number | undefined;
  stop?: number | undefined;
  step?: number | undefined;
}): Choose {
  const step = slice.step ?? 1;
  return (value, found, budget) => {
    if (!Array.isArray(value) || step === 0) return;
    const length = value.length;
    spend(budget, length / Math.abs(step));
    const clamp = (bound: number, low: number, high: number) =>
      Math.min(Math.max(bound < 0 ? length + bound : bound, low), high);
    if (step > 0) {
      const end = clamp(slice.stop ?? length, 0, length);
      for (let at = clamp(slice.start ?? 0, 0, length); at < end; at += step) found.push(value[at]);
    } else {
      const end = slice.stop === undefined ? -1 : clamp(slice.stop, -1, length - 1);
      const start = slice.start === undefined ? length - 1 : clamp(slice.start, -1, length - 1);
      for (let at = start; at > end; at += step) found.push(value[at]);
    }
  };
}

// Every value with all of its descendants, in document order. With a stack of our own, because a body may nest deeper than
// the call stack.
export function listDescendants(roots: readonly unknown[], budget: Budget): unknown[] {
  const found: unknown[] = [];
  const waiting = [...roots].reverse();
  while (waiting.length > 0) {
    const value = waiting.pop();
    spend(budget, 1);
    found.push(value);
    const children = childrenOf(value);
    for (let at = children.length - 1; at >= 0; at -= 1) waiting.push(children[at]);
  }
  return found;
}

function childrenOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
