import { after, metaKey } from '../storage/keys.ts';
import { copyBytes, encodeJson, type Store } from '../storage/store.ts';
import { type JournalPosition, ownNames, readPosition, snapshotPositionName } from './position.ts';
import { createRecordBuilder } from './records.ts';

/**
 * A copy of everything in a store, read piece by piece while writers continue. Each piece is read at a different
 * moment, so the copy is consistent only together with the journal, from `from` to its end after the last piece. One
 * read of everything would need no journal, but LMDB reuses no page that was freed after a read began: in a store under
 * load, the file would grow by gigabytes in a minute.
 */
export type Snapshot = {
  // The end of the journal before the first piece.
  from: JournalPosition | undefined;
  // The next entries, about as many bytes as requested; undefined at the end.
  read(mostBytes: number): { operations: Buffer; entries: number } | undefined;
};

// After every key.
const pastAll = Buffer.from([0xff, 0xff]);

const ownKeys = ownNames.map(metaKey);
const positionKey = metaKey(snapshotPositionName);

export function takeSnapshot(store: Store): Snapshot {
  store.refresh();
  const from = readPosition(store);
  return { from, read: readPieces(store, from) };
}

/** The pieces alone, with the position of the journal at which the reading began. */
export function readPieces(store: Store, from: object | undefined): Snapshot['read'] {
  const builder = createRecordBuilder();
  let start: Buffer | undefined = Buffer.from([0]);
  let isFirst = true;

  function read(mostBytes: number): { operations: Buffer; entries: number } | undefined {
    if (!start) return undefined;
    builder.clear();
    let entries = 0;
    let last: Buffer | undefined;
    // Commits are applied to the copy from its start, not from the end of the journal.
    if (isFirst && from) builder.put(positionKey, encodeJson(from));
    isFirst = false;
    store.refresh();
    for (const { key, value } of store.range({ start, end: pastAll }, copyBytes)) {
      last = key;
      if (ownKeys.some(own => own.equals(key))) continue;
      builder.put(key, value);
      entries++;
      if (builder.operations().length >= mostBytes) break;
    }
    start = last && after(last);
    return last && { operations: Buffer.from(builder.operations()), entries };
  }

  return read;
}
