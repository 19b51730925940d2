import { checkAttributeName, invalid } from './attribute-values.ts';

export function checkAttributesToGet(names: string[] | undefined): void {
  if (!names) return;
  const seen = new Set<string>();
  for (const name of names) {
    checkAttributeName(name);
    if (seen.has(name)) throw invalid(`Duplicate value in attribute name: ${name}`);
    seen.add(name);
  }
}
