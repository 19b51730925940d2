import type {
  Completion,
  CompletionContext,
  CompletionResult,
  CompletionSource,
} from '@codemirror/autocomplete';

// The argument of a connection's script: transform(event).
const eventFields: readonly Completion[] = [
  { label: 'body', type: 'property', detail: 'the JSON of the body' },
  { label: 'headers', type: 'property', detail: 'name → value, names in lower case' },
  { label: 'method', type: 'property', detail: 'POST' },
  { label: 'query', type: 'property', detail: 'name → value' },
];
const start: readonly Completion[] = [
  { label: 'event', type: 'variable', detail: 'the request as it was received' },
  {
    label: 'return { body: event.body };',
    type: 'keyword',
    detail: 'send this body',
  },
  { label: 'return null;', type: 'keyword', detail: 'drop the event' },
];

const typeName = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value;

/** The fields at a path of a sample, as suggestions. */
function fieldsAt(sample: unknown, path: readonly string[]): Completion[] {
  let value = sample;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return [];
    value = (value as Record<string, unknown>)[step];
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value)
    .filter(([name]) => /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name))
    .map(([label, field]) => ({ label, type: 'property', detail: typeName(field) }));
}

/** Suggests the properties of `event`, down to the fields of the sample's body. */
export const completeEvent =
  (sample: unknown): CompletionSource =>
  (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/[\p{L}\p{N}_$.?]+$/u);
    if (!word) return context.explicit ? { from: context.pos, options: [...start] } : null;
    const steps = word.text.replaceAll('?', '').split('.');
    const from = word.to - steps.at(-1)!.length;
    if (steps.length === 1) return { from, options: [...start] };
    if (steps[0] !== 'event') return null;
    if (steps.length === 2) return { from, options: [...eventFields] };
    return steps[1] === 'body' ? { from, options: fieldsAt(sample, steps.slice(2, -1)) } : null;
  };

/** Suggests the columns of the tables that the query names. */
export const completeColumns =
  (tables: Readonly<Record<string, readonly string[]>>): CompletionSource =>
  (context: CompletionContext): CompletionResult | null => {
    const word = context.matchBefore(/(?<![\p{L}\p{N}_."])[\p{L}_][\p{L}\p{N}_]*$/u);
    if (!word) return null;
    const named = new Set(context.state.doc.toString().match(/[\p{L}_][\p{L}\p{N}_]*/gu));
    const options = Object.entries(tables)
      .filter(([table]) => named.has(table))
      .flatMap(([table, columns]) => columns.map(label => ({ label, type: 'property', detail: table })));
    return { from: word.from, options };
  };
