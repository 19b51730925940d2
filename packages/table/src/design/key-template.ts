import { DesignError, keyRefused } from '../errors.ts';
import { type Format, keyPart } from './key-part.ts';

// `t#{tenant_key}U#{uid}#{inbox_key}`: literal text, and attributes in between.
export type ParamsOf<Template> = Template extends `${string}{${infer Param}}${infer Rest}`
  ? NameIn<Param> | ParamsOf<Rest>
  : never;
type NameIn<Param extends string> = Param extends `${infer Name}:${string}` ? Name : Param;

export type KeyTemplate = {
  readonly text: string;
  readonly params: readonly string[];
  readonly formats: readonly Format[];
  // One more than there are parameters: the text before, between and after them.
  readonly literals: readonly string[];
  readonly maxBytes: number;
  // False for the common start of several templates.
  readonly isWhole: boolean;
};

const paramShape = /\{([A-Za-z_]\w*)(?::(text|[1-9]\d?))?\}/g;

export function parseTemplate(text: string, maxBytes: number): KeyTemplate {
  const params: string[] = [];
  const formats: Format[] = [];
  const literals: string[] = [];
  let end = 0;
  for (const match of text.matchAll(paramShape)) {
    literals.push(text.slice(end, match.index));
    params.push(match[1]!);
    formats.push(match[2] === undefined || match[2] === 'text' ? (match[2] ?? 'plain') : Number(match[2]));
    end = match.index + match[0].length;
  }
  literals.push(text.slice(end));
  checkLiterals(text, literals);
  if (new Set(params).size < params.length) throw new DesignError(`key ${text}: a parameter stands twice`);
  return { text, params, formats, literals, maxBytes, isWhole: true };
}

// With a `#` between any two parameters and none inside them, a key can be parsed in one way only. So different values
// give different keys.
function checkLiterals(text: string, literals: string[]): void {
  if (text === '') throw new DesignError('a key template is empty');
  for (const [i, literal] of literals.entries()) {
    if (/[{}]/.test(literal)) throw new DesignError(`key ${text}: a brace that belongs to no parameter`);
    const isBetween = i > 0 && i < literals.length - 1;
    if (isBetween && !literal.includes('#'))
      throw new DesignError(`key ${text}: there is no # between two parameters`);
  }
}

const textPattern = /^(?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+$/;
const digitsPattern = /^[0-9]+$/;

function hasFormat(part: string, format: Format): boolean {
  if (format === 'plain') return part !== '' && !part.includes('#');
  return format === 'text' ? textPattern.test(part) : part.length === format && digitsPattern.test(part);
}

export const buildKey = (template: KeyTemplate, values: object): string =>
  buildPrefix(template, values, template.params.length);

// The key up to and including the literal after the first `count` parameters.
export function buildPrefix(template: KeyTemplate, values: object, count: number): string {
  const { params, formats, literals } = template;
  let key = literals[0]!;
  for (let i = 0; i < count; i++) {
    const name = params[i]!;
    key += keyPart(name, (values as Record<string, unknown>)[name], formats[i]!) + literals[i + 1];
  }
  return checkKeyLength(template, key);
}

/** The key, unless it is too long. */
export function checkKeyLength({ text, maxBytes }: KeyTemplate, key: string): string {
  // A UTF-16 unit takes at most three bytes in UTF-8, so short keys need no counting.
  if (key.length * 3 > maxBytes && Buffer.byteLength(key) > maxBytes)
    throw keyRefused(`the key ${text} would be longer than ${maxBytes} bytes`);
  return key;
}

export const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** Whether a key has the form of the template. */
export const matchesTemplate = (template: KeyTemplate, key: unknown): boolean =>
  partsOf(template, key) !== undefined;

// The parts of a key as they are stored, in the order of the parameters; undefined if the key does not match.
export function partsOf({ literals, formats }: KeyTemplate, key: unknown): string[] | undefined {
  const first = literals[0]!;
  if (typeof key !== 'string' || !key.startsWith(first)) return undefined;
  const parts: string[] = [];
  let start = first.length;
  for (let i = 0; i < formats.length; i++) {
    const literal = literals[i + 1]!;
    const end = partEnd(key, start, literal);
    if (end < start || !key.startsWith(literal, end)) return undefined;
    const part = key.slice(start, end);
    if (!hasFormat(part, formats[i]!)) return undefined;
    parts.push(part);
    start = end + literal.length;
  }
  return start === key.length ? parts : undefined;
}

// No part contains a #, and every literal but the last one does, so the next # tells where the literal is.
function partEnd(key: string, start: number, literal: string): number {
  const mark = literal.indexOf('#');
  return mark < 0 ? key.length - literal.length : key.indexOf('#', start) - mark;
}

// The parameters of a key, as text; undefined if it does not match the template.
export function parseKey(template: KeyTemplate, key: unknown): Record<string, string> | undefined {
  const parts = partsOf(template, key);
  if (!parts) return undefined;
  const { params, formats } = template;
  const values: Record<string, string> = {};
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    values[params[i]!] = formats[i] === 'text' ? decodeURIComponent(part) : part;
  }
  return values;
}

/** A part of a key: fixed text, or the value of an attribute. */
export type KeyPiece = { readonly text: string; readonly param?: string };

/** Splits a key into fixed text and attributes. */
export function piecesOf(template: KeyTemplate, key: unknown): KeyPiece[] | undefined {
  const parts = partsOf(template, key);
  if (!parts) return undefined;
  return template.literals
    .flatMap((literal, i): KeyPiece[] => {
      const param = template.params[i];
      return param === undefined ? [{ text: literal }] : [{ text: literal }, { text: parts[i]!, param }];
    })
    .filter(({ text }) => text !== '');
}

// Whether both templates could give the same key. May return true although they cannot.
export function templatesOverlap(a: KeyTemplate, b: KeyTemplate): boolean {
  const x = segmentsOf(a);
  const y = segmentsOf(b);
  return x.length === y.length && x.every((segment, i) => segmentsOverlap(segment, y[i]!));
}

type Segment = { before: string; after: string; format?: Format };

function segmentsOf({ text }: KeyTemplate): Segment[] {
  return text.split('#').map(segment => {
    const [match] = segment.matchAll(paramShape);
    if (!match) return { before: segment, after: '' };
    const format = match[2] === undefined || match[2] === 'text' ? (match[2] ?? 'plain') : Number(match[2]);
    return {
      before: segment.slice(0, match.index),
      after: segment.slice(match.index + match[0].length),
      format: format as Format,
    };
  });
}

function segmentsOverlap(a: Segment, b: Segment): boolean {
  if (a.format === undefined && b.format === undefined) return a.before === b.before;
  if (a.format === undefined) return segmentHolds(b, a.before);
  if (b.format === undefined) return segmentHolds(a, b.before);
  const heads = a.before.startsWith(b.before) || b.before.startsWith(a.before);
  const tails = a.after.endsWith(b.after) || b.after.endsWith(a.after);
  return heads && tails;
}

const segmentHolds = ({ before, after, format }: Segment, literal: string): boolean =>
  literal.startsWith(before) &&
  literal.endsWith(after) &&
  hasFormat(literal.slice(before.length, literal.length - after.length), format!);
