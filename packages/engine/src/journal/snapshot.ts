import { after } from '../storage/keys.ts';
import type { Store } from '../storage/store.ts';
import { createRecordBuilder } from './records.ts';
import { type JournalPosition, readPosition } from './writer.ts';

/** Everything in a store at one moment. Writers go on; the store's file grows by what they change meanwhile. */
export type Snapshot = {
  // Where the journal ended at that moment.
  position: JournalPosition | undefined;
  // The next entries, about as many bytes as asked for; undefined at the end.
  read(mostBytes: number): { operations: Buffer; entries: number } | undefined;
  close(): void;
};

// Keys are at most a few thousand bytes of these.
const pastAll = Buffer.from([0xff, 0xff]);

export function takeSnapshot(store: Store): Snapshot {
  const view = store.openView();
  const builder = createRecordBuilder();
  let start: Buffer | undefined = Buffer.from([0]);

  function read(mostBytes: number): { operations: Buffer; entries: number } | undefined {
    if (!start) return undefined;
    builder.clear();
    let entries = 0;
    let last: Buffer | undefined;
    view.each({ start, end: pastAll }, (key, value) => {
      builder.put(key, value);
      entries++;
      last = key;
      return builder.operations().length < mostBytes;
    });
    start = last && after(last);
    return last && { operations: Buffer.from(builder.operations()), entries };
  }

  try {
    return { position: readPosition(view), read, close: view.close };
  } catch (error) {
    view.close();
    throw error;
  }
}
