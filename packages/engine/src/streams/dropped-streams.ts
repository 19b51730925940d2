import type { Tx } from '../storage/committer.ts';
import { metaKey, prefixRange } from '../storage/keys.ts';
import { decodeJson, encodeJson, type Store } from '../storage/store.ts';
import type { KeySchema, Stream } from '../storage/table.ts';

// A stream outlives its table: the last changes stay readable for a day, as on AWS. Its descriptor moves from
// the table's to a record of its own.

export type StreamEntry = { tableName: string; keys: KeySchema; stream: Stream };

const prefix = 'dropped-stream/';
const entryKey = (streamId: number): Buffer => metaKey(`${prefix}${String(streamId).padStart(10, '0')}`);

export const keepDroppedStream = (tx: Tx, entry: StreamEntry): void =>
  tx.put(entryKey(entry.stream.id), encodeJson(entry));

export const forgetDroppedStream = (tx: Tx, streamId: number): void => tx.remove(entryKey(streamId));

export function listDroppedStreams(store: Store): StreamEntry[] {
  const range = prefixRange(metaKey(prefix));
  return Array.from(store.range(range, decodeJson), ({ value }) => value as StreamEntry);
}
