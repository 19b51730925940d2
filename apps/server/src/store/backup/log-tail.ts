import type { JournalChunk, JournalCursor } from '@stak/engine';
import { withDeadline } from '@stak/table';
import * as limits from './limits.ts';
import { type FactsOf, sealObject } from './sealed-object.ts';
import {
  headKey,
  listHistories,
  logFolder,
  putObject,
  readLastSegment,
  segmentKey,
  type Target,
} from './target.ts';

// The end of the log in the target: its last segment, and its position in the journal.
export type Tail = { number: number; checksum: string; cursor: JournalCursor; lastAt: number };

// `start` is where the history begins in the journal.
export async function findTail(target: Target, start: JournalCursor): Promise<Tail> {
  const { history } = start;
  const [found] = await listHistories(target.objects, logFolder(history));
  const last = found?.log.at(-1);
  if (!last) return { number: 0, checksum: '', cursor: start, lastAt: 0 };
  const { facts, checksum } = await readLastSegment(target, last);
  const { chain, file, offset } = facts.next;
  const cursor = { history, commit: facts.last, chain, file, offset };
  return { number: facts.number, checksum, cursor, lastAt: facts.lastAt };
}

// Ships a piece of the journal as the segment after the tail. Fails if there is one already. If that is from an earlier
// attempt of ours, the log continues after it; if it is from another store, our journal does not follow from it.
export async function appendSegment(
  { objects, keys: [key] }: Target,
  tail: Tail,
  { records, first, firstAt, lastAt, next }: JournalChunk,
): Promise<Tail> {
  const { history, commit: last, chain, file, offset } = next;
  const number = tail.number + 1;
  const range = { number, previous: tail.checksum, first, last, firstAt, lastAt };
  const facts = { kind: 'log', history, ...range, next: { chain, file, offset } } as const;
  const sealed = sealObject(facts, records, key);
  const name = segmentKey(history, number);
  if (!(await withDeadline(limits.callMs, () => objects.putIfAbsent(name, sealed.bytes))))
    throw new Error(`${name} already exists`);
  return { number, checksum: sealed.checksum, cursor: next, lastAt };
}

type Head = Omit<FactsOf<'head'>, 'kind'>;

export const writeHead = (target: Target, head: Head): Promise<void> => {
  const [key] = target.keys;
  const { bytes } = sealObject({ kind: 'head', ...head }, Buffer.alloc(0), key);
  return putObject(target, headKey(head.history), bytes);
};
