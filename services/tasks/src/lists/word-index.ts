import MiniSearch from 'minisearch';
import * as limits from '../limits.ts';
import type { Task } from '../schema.ts';

// The words of tasks, in memory: a MiniSearch that knows how many bytes it takes at most.

type Document = { id: string; title: string; description: string; category: string; labels: string };

// Letters without accents, so that "cafe" finds "Café".
export const foldTerm = (term: string): string => term.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

export const documentOf = (task: Task): Document => ({
  id: task.task_id,
  title: task.title,
  description: (task.description ?? '').slice(0, limits.searchDescriptionChars),
  category: task.category ?? '',
  labels: (task.labels ?? []).join(' '),
});

export const charsOf = (task: Task): number =>
  task.title.length + Math.min(task.description?.length ?? 0, limits.searchDescriptionChars);

// A word of the index that may be meant, how well it fits, and how often it occurs: what looking it up costs.
export type Variant = { word: string; weight: number; occurrences: number };

const prefixWeight = 0.6;
export const fuzzyWeight = 0.3;

// The bytes that V8 allocates, rounded up; `search-memory.test.ts` compares it with the heap. A word takes three or
// four maps of its own, and a word in the same field of a further task an entry in one of them. A map has room for four
// entries, and doubles when it is full.
const emptyBytes = 8192;
const taskBytes = 480;
const wordBytes = 800;
const fieldBytes = 260;
const entryBytes = 28;
const isFullMap = (size: number): boolean => size >= 4 && Number.isInteger(Math.log2(size));

// In V8, a part of a text holds the whole text in memory.
const copyOf = (word: string): string => ` ${word}`.slice(1);

export class WordIndex extends MiniSearch<Document> {
  // Removed words stay counted, because they stay in memory until a search comes across it.
  bytes = emptyBytes;

  override add(document: Document): void {
    this.bytes += taskBytes;
    super.add(document);
    // An array that grew by its elements has room for many more.
    const id = this._nextId - 1;
    this._fieldLength.set(id, this._fieldLength.get(id)!.slice());
  }

  // Called before a word of the task that is being added is stored. Returns what to store.
  charge(word: string, field: string): string {
    const fields = this._index.get(word);
    const tasks = fields?.get(this._fieldIds[field]!);
    if (!fields) this.bytes += wordBytes + 2 * word.length;
    else if (!tasks) this.bytes += fieldBytes;
    else if (isFullMap(tasks.size) && !tasks.has(this._nextId - 1)) this.bytes += entryBytes * tasks.size;
    return fields ? word : copyOf(word);
  }

  // The best first: the word itself, words that it begins, and words with so many wrong letters.
  *variantsOf(term: string, { isPrefix = false, errors = 0 }): Generator<Variant> {
    const exact = this._index.get(term);
    if (exact) yield { word: term, weight: 1, occurrences: occurrencesIn(exact) };
    if (isPrefix)
      for (const [word, data] of this._index.atPrefix(term)) {
        if (word === term) continue;
        const weight = (prefixWeight * word.length) / (word.length + 0.3 * (word.length - term.length));
        yield { word, weight, occurrences: occurrencesIn(data) };
      }
    if (errors === 0) return;
    for (const [word, [data, distance]] of this._index.fuzzyGet(term, errors)) {
      if (distance === 0 || (isPrefix && word.startsWith(term))) continue;
      yield {
        word,
        weight: (fuzzyWeight * word.length) / (word.length + distance),
        occurrences: occurrencesIn(data),
      };
    }
  }

  // The ids of tasks with any of these words.
  idsWith(words: ReadonlySet<string>): Set<string> {
    const ids = new Set<string>();
    for (const word of words)
      for (const tasks of this._index.get(word)?.values() ?? [])
        for (const task of tasks.keys()) ids.add(this._documentIds.get(task));
    return ids;
  }

  // How many tasks it holds, and the sum of the lengths of each field: what scores depend on besides the words found.
  extent(): Extent {
    return {
      tasks: this._documentCount,
      lengths: this._avgFieldLength.map(average => average * this._documentCount),
    };
  }

  // Scores tasks as if the index held all of these.
  scoreAmong({ tasks, lengths }: Extent): void {
    this._documentCount = tasks;
    this._avgFieldLength = lengths.map(length => length / tasks);
  }
}

export type Extent = { tasks: number; lengths: number[] };

export function createWordIndex(isWanted: (word: string) => boolean = () => true): WordIndex {
  const index: WordIndex = new WordIndex({
    fields: ['title', 'description', 'category', 'labels'],
    processTerm: (term, field) => {
      const word = foldTerm(term);
      if (word === '' || !isWanted(word)) return null;
      return index.charge(word, field!);
    },
    searchOptions: { boost: { title: 4, labels: 2, category: 2 } },
    autoVacuum: false, // an index with much to remove is built again
  });
  return index;
}

function occurrencesIn(fields: ReadonlyMap<number, ReadonlyMap<number, number>>): number {
  let occurrences = 1;
  for (const tasks of fields.values()) occurrences += tasks.size;
  return occurrences;
}
