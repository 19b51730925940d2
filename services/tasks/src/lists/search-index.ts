import { yieldToEventLoop } from '@stak/kit';
import MiniSearch from 'minisearch';
import * as limits from '../limits.ts';
import type { Task } from '../schema.ts';

// The full-text index of one user's tasks, and the number of the last change in it.
export type SearchIndex = {
  readonly epoch: string;
  seq: number;
  put(task: Task): void;
  remove(taskId: string): void;
  // The best matches first.
  find(query: string): Promise<Found[]>;
  chars(): number;
};

export type Found = { task_id: string; score: number };
type Document = { id: string; title: string; description: string; category: string; labels: string };

// Letters without accents, so that "cafe" finds "Café".
const foldTerm = (term: string): string => term.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

export function createSearchIndex(epoch: string, seq: number, most = limits.searchUserChars): SearchIndex {
  const sizes = new Map<string, number>();
  let size = limits.searchIndexChars;
  const index = new WordIndex({
    fields: ['title', 'description', 'category', 'labels'],
    processTerm: term => foldTerm(term) || null,
    searchOptions: { boost: { title: 4, labels: 2, category: 2 } },
  });

  const remove = (taskId: string) => {
    if (!sizes.has(taskId)) return;
    index.discard(taskId);
    size -= sizes.get(taskId)!;
    sizes.delete(taskId);
  };

  return {
    epoch,
    seq,
    remove,
    chars: () => size,
    put(task) {
      remove(task.task_id);
      const document = documentOf(task, size < most);
      const added = document.title.length + document.description.length;
      index.add(document);
      sizes.set(task.task_id, added);
      size += added;
    },
    async find(query) {
      const budget = { occurrences: limits.searchOccurrences };
      let found: Found[] | undefined;
      for (const word of wordsOf(query)) {
        if (found) await yieldToEventLoop();
        const matches = await matchesOf(index, foldTerm(word), budget);
        found = found ? inBoth(found, matches) : matches;
        if (found.length === 0) break;
      }
      return (found ?? []).sort((a, b) => b.score - a.score).slice(0, limits.searchResults);
    },
  };
}

// How many typing errors a word of this length may have.
const errorsIn = (term: string): number => (term.length < 4 ? 0 : term.length < 6 ? 1 : 2);
const prefixWeight = 0.6;
const fuzzyWeight = 0.3;

// A word of the index that may be meant, how well it fits, and how often it occurs: what looking it up costs.
type Variant = { word: string; weight: number; occurrences: number };

class WordIndex extends MiniSearch<Document> {
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
}

function occurrencesIn(fields: ReadonlyMap<number, ReadonlyMap<number, number>>): number {
  let occurrences = 1;
  for (const tasks of fields.values()) occurrences += tasks.size;
  return occurrences;
}

type Budget = { occurrences: number };

// Looks words up until the budget is used, with other work in between: a letter may begin every word of every task.
async function lookUp(
  index: WordIndex,
  variants: Iterable<Variant>,
  budget: Budget,
): Promise<Map<string, number>> {
  const scores = new Map<string, number>();
  let weights = new Map<string, number>();
  let occurrences = 0;
  const search = () => {
    const asTheyAre = { tokenize: (word: string) => [word], processTerm: (word: string) => word };
    const boostTerm = (word: string) => weights.get(word)!;
    // MiniSearch multiplies a score by the number of words that were found.
    for (const one of index.search({ queries: [...weights.keys()], ...asTheyAre, boostTerm }))
      scores.set(one.id, (scores.get(one.id) ?? 0) + one.score / one.queryTerms.length);
    [weights, occurrences] = [new Map(), 0];
  };
  for (const variant of variants) {
    if (budget.occurrences <= 0) break;
    weights.set(variant.word, variant.weight);
    budget.occurrences -= variant.occurrences;
    occurrences += variant.occurrences;
    if (occurrences < limits.searchOccurrencesTogether) continue;
    search();
    await yieldToEventLoop();
  }
  search();
  return scores;
}

// The last word may be unfinished, and a long word may have a wrong letter. Two swapped letters are one error to a user,
// but two to the index. So it is searched again with each pair swapped and one error less.
async function matchesOf(index: WordIndex, term: string, budget: Budget): Promise<Found[]> {
  const errors = errorsIn(term);
  const plain = await lookUp(index, index.variantsOf(term, { isPrefix: true, errors }), budget);
  const swapped = errors === 0 ? [] : await lookUp(index, variantsOfSwaps(index, term, errors), budget);
  const weight = (fuzzyWeight * term.length) / (term.length + 1);
  const scores = new Map([...swapped].map(([task_id, score]) => [task_id, score * weight]));
  for (const [task_id, score] of plain) scores.set(task_id, Math.max(score, scores.get(task_id) ?? 0));
  return [...scores].map(([task_id, score]) => ({ task_id, score }));
}

function* variantsOfSwaps(index: WordIndex, term: string, errors: number): Generator<Variant> {
  const once = swapsOf(term);
  for (const swapped of once) yield* index.variantsOf(swapped, { errors: errors - 1 });
  if (errors < 2) return;
  const twice = new Set(once.flatMap(swapsOf));
  twice.delete(term);
  for (const swapped of twice) yield* index.variantsOf(swapped, {});
}

function swapsOf(term: string): string[] {
  const letters = [...term].slice(0, limits.searchSwaps + 1);
  const rest = [...term].slice(letters.length).join('');
  const swaps = new Set<string>();
  for (let i = 0; i + 1 < letters.length; i++) {
    const [one, other] = [letters[i]!, letters[i + 1]!];
    if (one !== other)
      swaps.add(
        letters
          .with(i, other)
          .with(i + 1, one)
          .join('') + rest,
      );
  }
  return [...swaps];
}

// Splits a query as the index does. Words that occur twice, or consist of accents only, are searched once at most.
function wordsOf(query: string): string[] {
  const words = new Map(query.split(/[\n\r\p{Z}\p{P}]+/u).map(word => [foldTerm(word), word]));
  words.delete('');
  return [...words.values()].slice(0, limits.searchTerms);
}

function inBoth(found: readonly Found[], matches: readonly Found[]): Found[] {
  const scores = new Map(matches.map(({ task_id, score }) => [task_id, score]));
  return found.flatMap(({ task_id, score }) => {
    const more = scores.get(task_id);
    return more === undefined ? [] : [{ task_id, score: score + more }];
  });
}

const documentOf = (task: Task, isWhole: boolean): Document => ({
  id: task.task_id,
  title: task.title,
  description: isWhole ? (task.description ?? '').slice(0, limits.searchDescriptionChars) : '',
  category: task.category ?? '',
  labels: (task.labels ?? []).join(' '),
});
