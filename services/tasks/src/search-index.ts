import MiniSearch from 'minisearch';
import * as limits from './limits.ts';
import type { Task } from './schema.ts';

// The full-text index of one user's tasks, and how far it is.
export type SearchIndex = {
  readonly epoch: string;
  seq: number;
  put(task: Task): void;
  remove(taskId: string): void;
  find(query: string): { task_id: string; score: number }[];
  chars(): number;
};

type Document = { id: string; title: string; description: string; category: string; labels: string };

// Letters without their marks, so that "cafe" finds "Café".
const foldTerm = (term: string): string => term.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

export function createSearchIndex(epoch: string, seq: number, most = limits.searchUserChars): SearchIndex {
  const sizes = new Map<string, number>();
  let size = limits.searchIndexChars;
  const index = new MiniSearch<Document>({
    fields: ['title', 'description', 'category', 'labels'],
    processTerm: term => foldTerm(term) || null,
    searchOptions: {
      boost: { title: 4, labels: 2, category: 2 },
      combineWith: 'AND',
      // The word being typed is not finished; a long word may have a letter wrong, or two in the wrong order.
      prefix: true,
      fuzzy: term => (term.length < 4 ? false : term.length < 6 ? 1 : 2),
      weights: { prefix: 0.6, fuzzy: 0.3 },
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
    find(query) {
      const words = query.trim().split(/\s+/).slice(0, limits.searchTerms).join(' ');
      return index
        .search(words)
        .slice(0, limits.searchResults)
        .map(({ id, score }) => ({ task_id: id as string, score }));
    },
  };
}

const documentOf = (task: Task, isWhole: boolean): Document => ({
  id: task.task_id,
  title: task.title,
  description: isWhole ? (task.description ?? '').slice(0, limits.searchDescriptionChars) : '',
  category: task.category ?? '',
  labels: (task.labels ?? []).join(' '),
});
