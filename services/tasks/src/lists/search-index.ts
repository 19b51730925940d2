import { yieldToEventLoop } from '@stak/kit';
import * as limits from '../limits.ts';
import type { Task } from '../schema.ts';
import {
  createWordIndex,
  documentOf,
  foldTerm,
  fuzzyWeight,
  type Variant,
  type WordIndex,
} from './word-index.ts';

// The full-text index of one user's tasks, and the number of the last change in it.
export type SearchIndex = {
  readonly epoch: string;
  seq: number;
  put(task: Task): void;
  remove(taskId: string): void;
  // The best matches first.
  find(query: string): Promise<SearchMatch[]>;
  // At most. It never gets smaller.
  bytes(): number;
  // Whether more of it was removed than is left.
  isWorn(): boolean;
};

export type SearchMatch = { task_id: string; score: number };

export function createSearchIndex(epoch: string, seq: number): SearchIndex {
  const index = createWordIndex();
  const remove = (taskId: string) => {
    if (index.has(taskId)) index.discard(taskId);
  };
  return {
    epoch,
    seq,
    remove,
    bytes: () => index.bytes,
    isWorn: () => index.dirtCount > Math.max(limits.searchRemoved, index.documentCount),
    put(task) {
      remove(task.task_id);
      index.add(documentOf(task));
    },
    find: query => findIn(index, query),
  };
}

export async function findIn(index: WordIndex, query: string): Promise<SearchMatch[]> {
  const budget = { occurrences: limits.searchOccurrences };
  let found: SearchMatch[] | undefined;
  for (const term of termsOf(query)) {
    if (found) await yieldToEventLoop();
    const matches = await matchesOf(index, term, budget);
    found = found ? inBoth(found, matches) : matches;
    if (found.length === 0) break;
  }
  return (found ?? [])
    .sort((a, b) => b.score - a.score || (a.task_id < b.task_id ? -1 : 1))
    .slice(0, limits.searchResults);
}

// How many typing errors a word of this length may have.
const errorsIn = (term: string): number => (term.length < 4 ? 0 : term.length < 6 ? 1 : 2);

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

// The words of the index that a word of a query may mean.
export function* variantsOf(index: WordIndex, term: string): Generator<Variant> {
  const errors = errorsIn(term);
  yield* index.variantsOf(term, { isPrefix: true, errors });
  if (errors > 0) yield* variantsOfSwaps(index, term, errors);
}

// The last word may be unfinished, and a long word may have a wrong letter. Two swapped letters are one error to a user,
// but two to the index. So it is searched again with each pair swapped and one error less.
async function matchesOf(index: WordIndex, term: string, budget: Budget): Promise<SearchMatch[]> {
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
export function termsOf(query: string): string[] {
  const terms = new Set(query.split(/[\n\r\p{Z}\p{P}]+/u).map(foldTerm));
  terms.delete('');
  return [...terms].slice(0, limits.searchTerms);
}

function inBoth(found: readonly SearchMatch[], matches: readonly SearchMatch[]): SearchMatch[] {
  const scores = new Map(matches.map(({ task_id, score }) => [task_id, score]));
  return found.flatMap(({ task_id, score }) => {
    const more = scores.get(task_id);
    return more === undefined ? [] : [{ task_id, score: score + more }];
  });
}
