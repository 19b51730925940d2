import { decodeChange } from './change-log.ts';
import { isWholeItem } from './codec.ts';
import { space } from './keys.ts';
import { decodeJson } from './store.ts';

/** Whether a stored value is as it was written, as far as its own checksums tell. */
export function isSound(key: Buffer, value: Buffer): boolean {
  try {
    switch (key[0]) {
      case space.item:
        return isWholeItem(value, value.length);
      case space.log: {
        const { keys, old, new: next } = decodeChange(value);
        return [keys, old, next].every(image => !image || isWholeItem(image, image.length));
      }
      case space.table:
      case space.token:
        decodeJson(value, value.length);
    }
    return true;
  } catch {
    return false;
  }
}
