import type { Attributes } from './client.ts';

// Placeholders are numbered in the order they are asked for, so that requests of one shape have one text and
// whoever parses it can keep the result.
export type Expression = {
  name(attribute: string): string;
  // A dotted path into maps.
  path(path: string): string;
  value(value: unknown): string;
  placeholders(): {
    ExpressionAttributeNames?: Record<string, string>;
    ExpressionAttributeValues?: Attributes;
  };
};

export function createExpression(): Expression {
  const attributes: string[] = [];
  const values: unknown[] = [];

  function name(attribute: string): string {
    let at = attributes.indexOf(attribute);
    if (at < 0) at = attributes.push(attribute) - 1;
    return `#n${at}`;
  }

  return {
    name,
    path: path => (path.includes('.') ? path.split('.').map(name).join('.') : name(path)),
    value: value => `:v${values.push(value) - 1}`,
    placeholders() {
      const names: Record<string, string> = {};
      const bound: Attributes = {};
      for (let i = 0; i < attributes.length; i++) names[`#n${i}`] = attributes[i]!;
      for (let i = 0; i < values.length; i++) bound[`:v${i}`] = values[i];
      return {
        ...(attributes.length > 0 && { ExpressionAttributeNames: names }),
        ...(values.length > 0 && { ExpressionAttributeValues: bound }),
      };
    },
  };
}
