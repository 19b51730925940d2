import { type Budget, spend, spendChars } from '../filters/budget.ts';

// Whether a value can be printed as JSON within these bounds, found out without printing it. A mapping may select
// the same part of a body many times over, and printing recurses.
export function fitsJson(root: unknown, mostChars: number, mostDepth: number, budget: Budget): boolean {
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
      // Counted before they are listed, so that the list of what waits stays bounded too.
      const entries = Array.isArray(value) ? value : Object.values(value);
      if (!Array.isArray(value)) for (const name of Object.keys(value)) chars += name.length + 3;
      if (chars + entries.length > mostChars) return false;
      for (const entry of entries) waiting.push({ value: entry, depth: depth + 1 });
    }
    if (chars > mostChars) return false;
  }
  return true;
}
