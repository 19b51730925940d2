import { keyPart } from '../design/key-part.ts';
import { buildPrefix, isMissing, type KeyTemplate } from '../design/key-template.ts';
import { keyRefused } from '../errors.ts';

// Selects the sort keys that a query reads. Bounds are given by attribute: `{ from: { due_date: '2026-01-01' } }`.
export type Range<Bound> = { from?: Bound; after?: Bound; to?: Bound; before?: Bound };

// `without` is a key that the bounds include and the caller excluded: DynamoDB takes one condition on the sort key, and
// BETWEEN is the only one with two ends. DynamoDB refuses reversed bounds; here `isEmpty` says that no key lies between
// them, so no request is needed. `part` is one that no prefix can distinguish from a longer one, because the keys of
// several entities continue differently after it (`T#{id}`, `T#{id}#C#{c}`).
export type Bounds = {
  exactly?: string;
  prefix?: string;
  low?: string;
  high?: string;
  without?: string;
  isEmpty?: boolean;
  part?: { readonly at: number; readonly text: string };
};

type Values = Record<string, unknown>;

export function boundsOf(template: KeyTemplate, params: object, range: Range<object>): Bounds {
  const equal = countEqual(template, params as Values);
  const head = buildPrefix(template, params, equal);
  const { from, after, to, before } = range;
  if (from || after || to || before) {
    const low = lowEnd(template, params, equal, from, after) ?? (head === '' ? undefined : head);
    const high = highEnd(template, params, equal, to, before) ?? (head === '' ? undefined : next(head));
    const isEmpty = low !== undefined && high !== undefined && isBehind(low, high);
    return { low, high, without: !to && before ? high : undefined, isEmpty };
  }
  if (equal === template.params.length && template.isWhole) return { exactly: head };
  if (head === '') return {};
  return isOpen(template, equal) ? { prefix: head, part: lastPart(template, params) } : { prefix: head };
}

// Whether a longer part could be in the place of the last one: no `#` follows it.
const isOpen = ({ isWhole, params, literals }: KeyTemplate, count: number): boolean =>
  !isWhole && count > 0 && count === params.length && !literals[count]!.includes('#');

function lastPart({ params, formats }: KeyTemplate, values: object) {
  const at = params.length - 1;
  const name = params[at]!;
  return { at, text: keyPart(name, (values as Values)[name], formats[at]!) };
}

// DynamoDB sorts by bytes.
const isBehind = (key: string, other: string): boolean =>
  Buffer.compare(Buffer.from(key), Buffer.from(other)) > 0;

function countEqual({ params, text }: KeyTemplate, values: Values): number {
  let count = 0;
  while (count < params.length && !isMissing(values[params[count]!])) count++;
  for (let i = count + 1; i < params.length; i++)
    if (!isMissing(values[params[i]!]))
      throw keyRefused(
        `${params[i]} can be given only with ${params[count]}, which stands before it in ${text}`,
      );
  return count;
}

function lowEnd(template: KeyTemplate, params: object, equal: number, from?: object, after?: object) {
  if (from) return endOf(template, params, equal, from).key;
  if (!after) return undefined;
  const { key, isWhole } = endOf(template, params, equal, after);
  // Keys have no control characters, so no key lies between this one and the same with the first character after NUL,
  // which PostgreSQL refuses.
  return isWhole ? `${key}\u0001` : next(key);
}

function highEnd(template: KeyTemplate, params: object, equal: number, to?: object, before?: object) {
  if (before && !to) return endOf(template, params, equal, before).key;
  if (!to) return undefined;
  const { key, isWhole } = endOf(template, params, equal, to);
  return isWhole ? key : next(key);
}

function endOf(template: KeyTemplate, params: object, equal: number, bound: object) {
  const values = { ...params, ...bound };
  const count = countEqual(template, values);
  if (count === equal) throw keyRefused(`a bound needs the next part of ${template.text}`);
  if (isOpen(template, count))
    throw keyRefused(`${template.params[count - 1]} cannot be a bound: keys of this query differ after it`);
  const isWhole = template.isWhole && count === template.params.length;
  return { key: buildPrefix(template, values, count), isWhole };
}

// The first text after every text with the prefix. The prefix ends with a literal of the template, so never with the
// last code point.
function next(prefix: string): string {
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}
