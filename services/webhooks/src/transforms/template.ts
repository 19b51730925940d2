import { compilePath, type JsonPath } from '../filters/json-path.ts';
import * as limits from './limits.ts';

export type Template = readonly (string | JsonPath)[];

// `Invoice {{$.number}} of {{$.customer.name}}`
export function readTemplate(text: string): Template {
  if (text.length > limits.templateChars)
    throw new TypeError(`is longer than ${limits.templateChars} characters`);
  const parts = text.split(/\{\{\s*(\$.*?)\s*\}\}/s);
  if (parts.length > limits.templateValues * 2 + 1)
    throw new TypeError(`holds more than ${limits.templateValues} values`);
  return parts.map((part, at) => (at % 2 === 0 ? part : compilePath(part)));
}

// What is missing, null or not a single value leaves no trace in a text.
export function fillTemplate(template: Template, document: unknown): string {
  return template
    .map(part => {
      if (typeof part === 'string') return part;
      const [value] = part.select(document);
      return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? String(value)
        : '';
    })
    .join('');
}
