import { DesignError, keyRefused } from './errors.ts';
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
  readonly pattern: RegExp;
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
  return { text, params, formats, literals, pattern: patternOf(literals, formats), maxBytes, isWhole: true };
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

const formatPattern = (format: Format): string => {
  if (format === 'plain') return '([^#]+)';
  return format === 'text' ? '((?:[A-Za-z0-9._~-]|%[0-9A-F]{2})+)' : `([0-9]{${format}})`;
};

function patternOf(literals: string[], formats: Format[]): RegExp {
  const escaped = literals.map(literal => literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const source = escaped.map((literal, i) => (i === 0 ? literal : formatPattern(formats[i - 1]!) + literal));
  return new RegExp(`^${source.join('')}$`, 's');
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
  // A UTF-16 unit takes at most three bytes in UTF-8, so short keys need no counting.
  if (key.length * 3 > template.maxBytes && Buffer.byteLength(key) > template.maxBytes)
    throw keyRefused(`the key ${template.text} would be longer than ${template.maxBytes} bytes`);
  return key;
}

export const isMissing = (value: unknown): boolean => value === undefined || value === null;

export function matchesTemplate(template: KeyTemplate, key: unknown): boolean {
  return typeof key === 'string' && template.pattern.test(key);
}

// The parameters of a key, as text; undefined if it does not match the template.
export function parseKey(template: KeyTemplate, key: unknown): Record<string, string> | undefined {
  const match = typeof key === 'string' ? template.pattern.exec(key) : null;
  if (!match) return undefined;
  const values: Record<string, string> = {};
  for (const [i, name] of template.params.entries()) {
    const part = match[i + 1]!;
    values[name] = template.formats[i] === 'text' ? decodeURIComponent(part) : part;
  }
  return values;
}

/** A part of a key: fixed text, or the value of an attribute. */
export type KeyPiece = { readonly text: string; readonly param?: string };

/** Splits a key into fixed text and attributes. */
export function piecesOf(template: KeyTemplate, key: unknown): KeyPiece[] | undefined {
  const match = typeof key === 'string' ? template.pattern.exec(key) : null;
  if (!match) return undefined;
  return template.literals
    .flatMap((literal, i): KeyPiece[] => {
      const param = template.params[i];
      return param === undefined ? [{ text: literal }] : [{ text: literal }, { text: match[i + 1]!, param }];
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
  new RegExp(`^${formatPattern(format!)}$`, 's').test(
    literal.slice(before.length, literal.length - after.length),
  );
