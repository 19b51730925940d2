import { logDepth, logEntries, logNames } from './limits.ts';

const redacted = '[redacted]';

// Anywhere in the name: `set-cookie`, `passwordHash`, `clientSecret`. Only at its end: `access_token`, but not
// a model's `max_tokens` or `tokenCount`.
const secretName = /authorization|cookie|password|secret|(?:token|api[-_]?key)$/i;

export type Redact = (value: unknown) => unknown;

// Copies any value for a log line: secrets are replaced at every depth, errors are serialised, cycles are cut. Pino's
// own redaction takes paths, and a path covers one depth only.
export function createRedact(moreNames: readonly string[] = []): Redact {
  const names = new Set(moreNames.map(name => name.toLowerCase()));
  const verdicts = new Map<string, boolean>(); // lines contain the same names again and again
  const isSecret = (name: string): boolean => {
    const known = verdicts.get(name);
    if (known !== undefined) return known;
    const verdict = secretName.test(name) || names.has(name.toLowerCase());
    if (verdicts.size < logNames) verdicts.set(name, verdict);
    return verdict;
  };

  const copy = (value: unknown, parents: readonly object[]): unknown => {
    if (typeof value === 'bigint') return String(value); // JSON has none, and one would lose the whole line
    if (typeof value !== 'object' || value === null) return value;
    if (parents.includes(value)) return '[circular]';
    if (parents.length === logDepth) return '[too deep]';
    const inside = [...parents, value];
    if (Array.isArray(value)) return cutArray(value, item => copy(item, inside));
    if (value instanceof Error) return copyEntries(describeError(value), inside);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (value instanceof Map) return copyEntries(value, inside);
    if (value instanceof Set) return cutArray([...value], item => copy(item, inside));
    if ('toJSON' in value && typeof value.toJSON === 'function') return copy(value.toJSON(), inside);
    return copyEntries(Object.entries(value), inside);
  };

  const copyEntries = (entries: Iterable<[unknown, unknown]>, inside: readonly object[]) => {
    const copies: Record<string, unknown> = {};
    let count = 0;
    for (const [key, value] of entries) {
      if (count++ === logEntries) {
        copies['…'] = '[cut]';
        break;
      }
      const name = String(key);
      const shown = isSecret(name) ? redacted : copy(value, inside);
      // Assigning this name would set the prototype.
      if (name === '__proto__') Object.defineProperty(copies, name, { value: shown, enumerable: true });
      else copies[name] = shown;
    }
    return copies;
  };

  return value => {
    try {
      return copy(value, []);
    } catch (error) {
      // A getter or a toJSON that throws must not fail the caller.
      return { unloggable: error instanceof Error ? error.message : String(error) };
    }
  };
}

function cutArray(items: readonly unknown[], copyItem: (item: unknown) => unknown): unknown[] {
  const result = items.slice(0, logEntries).map(copyItem);
  if (items.length > logEntries) result.push(`[${items.length - logEntries} more]`);
  return result;
}

function describeError(error: Error): [string, unknown][] {
  const entries: [string, unknown][] = [
    ['type', error.constructor.name],
    ['message', error.message],
    ['stack', error.stack],
    ...Object.entries(error).filter(([key]) => key !== 'name'),
  ];
  if (error.cause !== undefined) entries.push(['cause', error.cause]);
  if (error instanceof AggregateError) entries.push(['errors', error.errors]);
  return entries;
}
