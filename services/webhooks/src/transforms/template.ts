import { type Budget, spendChars } from '../filters/budget.ts';
import { compilePath, type JsonPath } from '../filters/json-path.ts';
import * as limits from './limits.ts';

export type Template = readonly (string | JsonPath)[];

// `Invoice {{$.number}} of {{$.customer.name}}`. Braces without a path are text.
export function readTemplate(text: string): Template {
  if (text.length > limits.templateChars)
    throw new TypeError(`is longer than ${limits.templateChars} characters`);
  const paths = findPaths(text);
  if (paths.length > limits.templateValues)
    throw new TypeError(`holds more than ${limits.templateValues} values`);
  const parts: (string | JsonPath)[] = [];
  let textFrom = 0;
  for (const { from, to, path } of paths) {
    parts.push(text.slice(textFrom, from), compilePath(path));
    textFrom = to;
  }
  parts.push(text.slice(textFrom));
  return parts;
}

export const countPaths = (text: string): number => findPaths(text).length;

type PathMatch = { from: number; to: number; path: string };

// Reads each character once. The equivalent regular expression would backtrack over the spaces for every brace.
function findPaths(text: string): PathMatch[] {
  const found: PathMatch[] = [];
  let from = text.indexOf('{{');
  while (from >= 0) {
    let at = from + 2;
    while (at < text.length && isSpace(text[at]!)) at += 1;
    const end = text[at] === '$' ? text.indexOf('}}', at) : undefined;
    if (end === -1) break; // no later braces are closed either
    if (end !== undefined) found.push({ from, to: end + 2, path: text.slice(at, end).trimEnd() });
    from = text.indexOf('{{', end === undefined ? from + 1 : end + 2);
  }
  return found;
}

const isSpace = (char: string): boolean => char.trim() === '';

// A value that is missing, null, or an object or array becomes an empty string.
export function fillTemplate(template: Template, document: unknown, budget: Budget): string {
  return template
    .map(part => {
      if (typeof part === 'string') return part;
      const [value] = part.select(document, budget);
      if (typeof value === 'string') spendChars(budget, value.length);
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? String(value)
        : '';
    })
    .join('');
}
