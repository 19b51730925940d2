import type { Attributes } from '../client/client.ts';

// Collects the attributes and values of an expression. Placeholders are numbered in the order of their use, so requests
// of the same form have the same text, and a parser can cache the result.
export type Expression = { readonly attributes: string[]; readonly values: unknown[] };

export const createExpression = (): Expression => ({ attributes: [], values: [] });

// Created once: building them for each request took longer than the rest of the request.
const nameTexts = Array.from({ length: 64 }, (_, i) => `#n${i}`);
const valueTexts = Array.from({ length: 64 }, (_, i) => `:v${i}`);

export function nameIn({ attributes }: Expression, attribute: string): string {
  let at = attributes.indexOf(attribute);
  if (at < 0) at = attributes.push(attribute) - 1;
  return nameTexts[at] ?? `#n${at}`;
}

// A dotted path into maps.
export function pathIn(expression: Expression, path: string): string {
  if (!path.includes('.')) return nameIn(expression, path);
  return path
    .split('.')
    .map(part => nameIn(expression, part))
    .join('.');
}

export function valueIn({ values }: Expression, value: unknown): string {
  const at = values.push(value) - 1;
  return valueTexts[at] ?? `:v${at}`;
}

type Placeholders = {
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Attributes;
};

// DynamoDB refuses empty maps.
export function bindPlaceholders<Request extends object>(
  request: Request,
  { attributes, values }: Expression,
): Request & Placeholders {
  const bound: Request & Placeholders = request;
  if (attributes.length > 0) {
    const names: Record<string, string> = {};
    for (let i = 0; i < attributes.length; i++) names[nameTexts[i] ?? `#n${i}`] = attributes[i]!;
    bound.ExpressionAttributeNames = names;
  }
  if (values.length > 0) {
    const named: Attributes = {};
    for (let i = 0; i < values.length; i++) named[valueTexts[i] ?? `:v${i}`] = values[i];
    bound.ExpressionAttributeValues = named;
  }
  return bound;
}
