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
  const index = new MiniSearch<Document>({
    fields: ['title', 'description', 'category', 'labels'],
    processTerm: term => foldTerm(term) || null,
    searchOptions: {
      boost: { title: 4, labels: 2, category: 2 },
      // The last word may be unfinished, and a long word may have a wrong letter.
      prefix: true,
      fuzzy: term => errorsIn(term) || false,
      weights: { prefix: 0.6, fuzzy: fuzzyWeight },
    },
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
    // Word by word, with other work in between, because a word that is in every task takes a while.
    async find(query) {
      let found: Found[] | undefined;
      for (const word of wordsOf(query)) {
        if (found) await yieldToEventLoop();
        const matches = matchesOf(index, word);
        found = found ? inBoth(found, matches) : matches;
        if (found.length === 0) break;
      }
      return (found ?? []).sort((a, b) => b.score - a.score).slice(0, limits.searchResults);
    },
  };
}

// How many typing errors a word of this length may have.
const errorsIn = (term: string): number => (term.length < 4 ? 0 : term.length < 6 ? 1 : 2);
const fuzzyWeight = 0.3;

// Two swapped letters are one error to a user, but two to the index. So it is searched again with each pair swapped and
// one error less.
function matchesOf(index: MiniSearch<Document>, word: string): Found[] {
  const term = foldTerm(word);
  const errors = errorsIn(term);
  const plain = index.search(word).map(({ id, score }) => ({ task_id: id as string, score }));
  if (errors === 0) return plain;
  const once = swapsOf(term);
  const twice = errors < 2 ? [] : [...new Set(once.flatMap(swapsOf))].filter(one => one !== term);
  const swapped = index.search({
    combineWith: 'OR',
    prefix: false,
    queries: [
      { queries: once, combineWith: 'OR', fuzzy: errors - 1 || false },
      { queries: twice, combineWith: 'OR', fuzzy: false },
    ],
  });
  if (swapped.length === 0) return plain;
  const weight = (fuzzyWeight * term.length) / (term.length + 1);
  const best = new Map(swapped.map(({ id, score }) => [id as string, score * weight]));
  for (const { task_id, score } of plain) best.set(task_id, Math.max(score, best.get(task_id) ?? 0));
  return [...best].map(([task_id, score]) => ({ task_id, score }));
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
