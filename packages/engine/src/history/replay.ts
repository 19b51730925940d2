import {
  type HistoryFiles,
  type HistorySnapshot,
  historyFolder,
  listHistory,
  segmentsAfter,
} from '../journal/history-files.ts';
import type { JournalCursor } from '../journal/position.ts';
import { readJournal } from '../journal/reader.ts';
import type { Restoring } from '../journal/restore.ts';
import { readArchive } from './archive.ts';

/** Returns the position at which the journal continues a snapshot and the segments after it. */
export const cursorAfter = (snapshot: HistorySnapshot, { segments }: HistoryFiles): JournalCursor => {
  const last = segmentsAfter(snapshot, segments).at(-1);
  return last
    ? { history: '', ...last.last, file: last.nextFile, offset: 0 }
    : { history: '', ...snapshot.from };
};

type Until = { untilMs: number; end: Omit<JournalCursor, 'history'> };
const readBytes = 8 * 1024 * 1024;

/** Loads a snapshot and the commits after it, up to a moment or the end of the journal. */
export async function replayFrom(
  path: string,
  snapshot: HistorySnapshot,
  { untilMs, end }: Until,
  restoring: Restoring,
): Promise<{ commit: number; at: number }> {
  const folder = historyFolder(path);
  const files = listHistory(folder);
  for await (const piece of readArchive(folder, snapshot.name)) await restoring.load(piece);
  let last: { commit: number; at: number; isPast?: boolean } = await restoring.loaded();
  for (const segment of segmentsAfter(snapshot, files.segments)) {
    for await (const records of readArchive(folder, segment.name))
      last = await restoring.apply(records, segment.before.commit + 1, untilMs);
    if (last.isPast) return last;
  }
  const until = { ...end, history: '' };
  let cursor = cursorAfter(snapshot, files);
  for (;;) {
    const chunk = cursor.commit < end.commit ? await readJournal(path, cursor, until, readBytes) : undefined;
    if (!chunk) return last;
    last = await restoring.apply(chunk.records, chunk.first, untilMs);
    if (last.isPast) return last;
    cursor = chunk.next;
  }
}
