import { yieldToEventLoop } from '@stak/kit';
import * as limits from '../limits.ts';
import type { Task } from '../schema.ts';
import { findIn, type SearchMatch, termsOf, variantsOf } from './search-index.ts';
import { createWordIndex, documentOf, type Extent, type WordIndex } from './word-index.ts';

// A search without a kept index, with the same results: tasks are indexed some at a time, and only the words that the
// query may mean are held until the end. It takes little memory, whatever the tasks contain.
export async function scanTasks(tasks: AsyncIterable<Task>, query: string): Promise<SearchMatch[]> {
  const terms = termsOf(query);
  let wanted: ReadonlySet<string> = new Set();
  const matching = createWordIndex(word => wanted.has(word));
  const extent: Extent = { tasks: 0, lengths: [] };
  let chunk: Task[] = [];
  let index = createWordIndex();

  async function finishChunk(): Promise<void> {
    wanted = await wordsMeant(index, terms);
    const ids = index.idsWith(wanted);
    for (const task of chunk)
      if (ids.has(task.task_id) && matching.bytes < limits.searchScanBytes) matching.add(documentOf(task));
    const { tasks, lengths } = index.extent();
    extent.tasks += tasks;
    for (const [field, length] of lengths.entries())
      extent.lengths[field] = (extent.lengths[field] ?? 0) + length;
    chunk = [];
    index = createWordIndex();
    await yieldToEventLoop();
  }

  for await (const task of tasks) {
    chunk.push(task);
    index.add(documentOf(task));
    if (index.bytes > limits.searchChunkBytes) await finishChunk();
  }
  if (chunk.length > 0) await finishChunk();
  matching.scoreAmong(extent);
  return findIn(matching, query);
}

async function wordsMeant(index: WordIndex, terms: readonly string[]): Promise<Set<string>> {
  const words = new Set<string>();
  for (const term of terms) {
    for (const { word } of variantsOf(index, term)) words.add(word);
    await yieldToEventLoop();
  }
  return words;
}
