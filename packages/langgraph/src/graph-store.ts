import {
  BaseStore,
  type GetOperation,
  getTextAtPath,
  type IndexConfig,
  type Item,
  type ListNamespacesOperation,
  type MatchCondition,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
} from '@langchain/langgraph-checkpoint';
import type { ItemOf, Store } from '@stak/table';
import * as limits from './limits.ts';
import { item, itemsOfNamespace, namespace, namespacesOfRoot, root, roots } from './table.ts';

type StoredItem = ItemOf<typeof item>;

/** Options of the store: embeddings for searches by meaning, and the clock. */
export type GraphStoreOptions = {
  index?: IndexConfig; // embeddings, for searches by meaning
  now?(): number; // milliseconds
};

/**
 * The store that LangGraph's graphs share, on the table `langgraph`. A semantic search compares the query with every
 * item of the namespaces that it searches, exactly.
 *
 *     const graph = builder.compile({ checkpointer, store: createGraphStore(store) });
 */
export function createGraphStore(store: Store, options: GraphStoreOptions = {}): BaseStore {
  return new TableStore(store, options);
}

class TableStore extends BaseStore {
  readonly #store: Store;
  readonly #index: IndexConfig | undefined;
  readonly #now: () => number;
  readonly #registered = new Set<string>();

  constructor(store: Store, { index, now = Date.now }: GraphStoreOptions) {
    super();
    this.#store = store;
    this.#index = index;
    this.#now = now;
  }

  // Reads see the state before the writes of the same batch; of two writes to one key, the last one counts.
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = new Map<string, PutOperation>();
    const results = await Promise.all(
      operations.map(async operation => {
        if ('namespacePrefix' in operation) return this.#search(operation);
        if ('value' in operation)
          return void puts.set(`${pathOf(operation.namespace)}#${operation.key}`, operation);
        return 'key' in operation ? this.#get(operation) : this.#list(operation);
      }),
    );
    await Promise.all(Array.from(puts.values(), operation => this.#put(operation)));
    return results as OperationResults<Op>;
  }

  async #get({ namespace: parts, key }: GetOperation): Promise<Item | null> {
    const found = await this.#store.get(item, { path: pathOf(parts), key }, { consistent: true });
    return found ? show(found) : null;
  }

  async #put({ namespace: parts, key, value, index }: PutOperation): Promise<void> {
    const path = pathOf(parts);
    if (value === null) return void (await this.#store.delete(item, { path, key }));
    const text = JSON.stringify(value);
    if (Buffer.byteLength(text) > limits.itemBytes)
      throw new RangeError(`An item has more than ${limits.itemBytes} bytes`);
    await this.#register(parts, path);
    const before = await this.#store.get(item, { path, key }, { consistent: true });
    const updated_at = new Date(this.#now()).toISOString();
    const vectors = await this.#embed(value, index);
    await this.#store.put(item, {
      path,
      key,
      value: text,
      ...(vectors.length > 0 && { vectors }),
      created_at: before?.created_at ?? updated_at,
      updated_at,
    });
  }

  // Written before the first item, so that every item can be found by a search.
  async #register(parts: readonly string[], path: string): Promise<void> {
    if (this.#registered.has(path)) return;
    await this.#store.put(root, { all: 'all', root: parts[0]! });
    await this.#store.put(namespace, { root: parts[0]!, path });
    if (this.#registered.size >= limits.knownNamespaces) this.#registered.clear();
    this.#registered.add(path);
  }

  async #embed(value: Record<string, unknown>, index: PutOperation['index']): Promise<Uint8Array[]> {
    if (!this.#index || index === false) return [];
    const fields = index ?? this.#index.fields ?? ['$'];
    const texts = fields.flatMap(field => getTextAtPath(value, field)).filter(text => text !== '');
    if (texts.length === 0) return [];
    const vectors = await this.#index.embeddings.embedDocuments(texts);
    return vectors.map(vector => new Uint8Array(Float32Array.from(vector).buffer));
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter = {}, query, limit = 10, offset = 0 } = operation;
    const isWanted = ({ value }: Item) =>
      Object.entries(filter).every(([name, wanted]) => isMatch(value[name], wanted));
    const asked = this.#index && query ? await this.#index.embeddings.embedQuery(query) : undefined;
    const items: SearchItem[] = [];
    for await (const parts of this.#namespaces(namespacePrefix))
      for await (const stored of this.#store.all(itemsOfNamespace, { path: pathOf(parts) })) {
        const shown = show(stored);
        if (!isWanted(shown)) continue;
        items.push(asked ? { ...shown, ...scoreOf(stored, asked) } : shown);
        if (!asked && items.length >= offset + limit) return items.slice(offset);
      }
    if (asked) items.sort((a, b) => (b.score ?? -1) - (a.score ?? -1));
    return items.slice(offset, offset + limit);
  }

  async *#namespaces(prefix: readonly string[]): AsyncGenerator<string[]> {
    if (prefix.length === 0) {
      for await (const { root: first } of this.#store.all(roots, { all: 'all' }))
        yield* this.#namespaces([first]);
      return;
    }
    const path = pathOf(prefix);
    const range = { from: { path }, before: { path: `${path.slice(0, -1)}0` } }; // `0` comes after `/`
    for await (const namespace of this.#store.all(namespacesOfRoot, { root: prefix[0]! }, range))
      yield partsOf(namespace.path);
  }

  async #list(operation: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth = Infinity, limit, offset } = operation;
    const fixed = matchConditions.find(({ matchType }) => matchType === 'prefix')?.path ?? [];
    const wildcard = fixed.indexOf('*');
    const folders = new Map<string, string[]>();
    for await (const parts of this.#namespaces(wildcard < 0 ? fixed : fixed.slice(0, wildcard))) {
      if (!matchConditions.every(condition => hasParts(parts, condition))) continue;
      const cut = parts.slice(0, maxDepth);
      folders.set(pathOf(cut), cut);
    }
    const sorted = [...folders].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, parts]) => parts);
    return sorted.slice(offset, offset + limit);
  }
}

const pathOf = (parts: readonly string[]): string => {
  if (parts.length === 0) throw new TypeError('A namespace has at least one part');
  return parts.map(part => `${encodeURIComponent(part)}/`).join('');
};
const partsOf = (path: string): string[] => path.slice(0, -1).split('/').map(decodeURIComponent);

const show = ({ path, key, value, created_at, updated_at }: StoredItem): Item => ({
  namespace: partsOf(path),
  key,
  value: JSON.parse(value),
  createdAt: new Date(created_at),
  updatedAt: new Date(updated_at),
});

function hasParts(parts: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > parts.length) return false;
  const from = matchType === 'prefix' ? 0 : parts.length - path.length;
  return path.every((part, i) => part === '*' || part === parts[from + i]);
}

const comparisons: Record<string, (value: unknown, wanted: unknown) => boolean> = {
  $eq: (value, wanted) => value === wanted,
  $ne: (value, wanted) => value !== wanted,
  $gt: (value, wanted) => (value as number) > (wanted as number),
  $gte: (value, wanted) => (value as number) >= (wanted as number),
  $lt: (value, wanted) => (value as number) < (wanted as number),
  $lte: (value, wanted) => (value as number) <= (wanted as number),
};

function isMatch(value: unknown, wanted: unknown): boolean {
  const entries = typeof wanted === 'object' && wanted !== null ? Object.entries(wanted) : [];
  const isComparison = entries.length > 0 && entries.every(([name]) => Object.hasOwn(comparisons, name));
  if (isComparison) return entries.every(([name, operand]) => comparisons[name]!(value, operand));
  return JSON.stringify(value) === JSON.stringify(wanted);
}

// The nearest of an item's vectors counts. An item without vectors has no score, and comes last.
function scoreOf({ vectors = [] }: StoredItem, asked: readonly number[]): { score?: number } {
  if (vectors.length === 0) return {};
  const scores = vectors.map(bytes => cosine(new Float32Array(Uint8Array.from(bytes).buffer), asked));
  return { score: Math.max(...scores) };
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [dot, ofA, ofB] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    dot += a[i]! * b[i]!;
    ofA += a[i]! ** 2;
    ofB += b[i]! ** 2;
  }
  return ofA && ofB ? dot / Math.sqrt(ofA * ofB) : 0;
}
