import { keyRefused } from './errors.ts';
import { buildPrefix, isMissing, type KeyTemplate } from './key-template.ts';

// Which sort keys a query reads. Bounds are given by attribute: `{ from: { due_date: '2026-01-01' } }`.
export type Range<Bound> = { from?: Bound; after?: Bound; to?: Bound; before?: Bound };

// `without` is a key that the bounds include and the caller did not mean: DynamoDB takes one condition on the
// sort key, and BETWEEN is the only one with two ends.
export type Bounds = { exactly?: string; prefix?: string; low?: string; high?: string; without?: string };

type Values = Record<string, unknown>;

export function boundsOf(template: KeyTemplate, params: object, range: Range<object>): Bounds {
  const equal = countEqual(template, params as Values);
  const head = buildPrefix(template, params, equal);
  const { from, after, to, before } = range;
  if (from || after || to || before) return rangeOf(template, params as Values, equal, head, range);
  if (equal === template.params.length && template.isWhole) return { exactly: head };
  return head === '' ? {} : { prefix: head };
}

function countEqual({ params, text }: KeyTemplate, values: Values): number {
  let count = 0;
  while (count < params.length && !isMissing(values[params[count]!])) count++;
  const gap = params.slice(count).find(name => !isMissing(values[name]));
  if (gap)
    throw keyRefused(`${gap} can be given only with ${params[count]}, which stands before it in ${text}`);
  return count;
}

function rangeOf(
  template: KeyTemplate,
  params: Values,
  equal: number,
  head: string,
  range: Range<object>,
): Bounds {
  const end = (bound: object): string => {
    const values = { ...params, ...bound };
    const count = countEqual(template, values);
    if (count === equal)
      throw keyRefused(`a bound of ${template.text} needs ${template.params[equal] ?? 'nothing'}`);
    return buildPrefix(template, values, count);
  };
  const isKey = (bound: object) =>
    template.isWhole && countEqual(template, { ...params, ...bound }) === template.params.length;

  const bounds: Bounds = {};
  if (range.from) bounds.low = end(range.from);
  else if (range.after) bounds.low = isKey(range.after) ? `${end(range.after)}\0` : next(end(range.after));
  else if (head !== '') bounds.low = head;

  if (range.to) bounds.high = isKey(range.to) ? end(range.to) : next(end(range.to));
  else if (range.before) {
    bounds.high = end(range.before);
    bounds.without = bounds.high;
  } else if (head !== '') bounds.high = next(head);
  return bounds;
}

// The first text after everything that begins with the prefix, which ends with a literal of the template and
// so never with the last character there is.
function next(prefix: string): string {
  const last = prefix.length - 1;
  return prefix.slice(0, last) + String.fromCharCode(prefix.charCodeAt(last) + 1);
}
