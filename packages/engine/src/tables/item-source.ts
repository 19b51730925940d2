import { after, head, prefixRange, space } from '../storage/keys.ts';
import { copyBytes, type Store } from '../storage/store.ts';

// The items of a table as they were at one moment, in the order of their keys, to be read piece by piece.
export type ItemSource = {
  // The next items after a key, without the id of the table.
  read(afterKey: Buffer | undefined): StoredItem[];
  close(): Promise<void> | void;
};
type StoredItem = { key: Buffer; bytes: Buffer };

const itemsPerPiece = 256;
const bytesPerPiece = 1024 * 1024;
const idBytes = 5;

export const withId = (tableId: number, key: Buffer): Buffer =>
  Buffer.concat([head(space.item, tableId), key]);

export function itemSource(
  { range }: Pick<Store, 'range'>,
  tableId: number,
  close: ItemSource['close'] = () => {},
): ItemSource {
  const whole = prefixRange(head(space.item, tableId));
  return {
    read(afterKey) {
      const start = afterKey ? after(withId(tableId, afterKey)) : whole.start;
      const items: StoredItem[] = [];
      let size = 0;
      for (const { key, value: bytes } of range({ start, end: whole.end }, copyBytes)) {
        items.push({ key: Buffer.from(key.subarray(idBytes)), bytes });
        size += bytes.length;
        if (items.length === itemsPerPiece || size > bytesPerPiece) break;
      }
      return items;
    },
    close,
  };
}

// Reads a table as it is now. Pages that are freed meanwhile are not used again, so it should not be kept for long.
export function currentItems(store: Store, tableId: number): ItemSource {
  const { range, release } = store.openSnapshot();
  return itemSource({ range }, tableId, release);
}
