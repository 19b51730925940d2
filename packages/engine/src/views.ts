import type { View } from './context.ts';
import { decodeItem, decodeNative, gatherEach, gatherNative } from './storage/codec.ts';
import type { Item } from './values/attribute-value.ts';
import { type NativeItem, unmarshalItem } from './values/marshal.ts';

export const wireView: View<Item> = {
  decode: decodeItem,
  gather: () => gatherEach(decodeItem),
  present: item => item,
};
export const nativeView: View<NativeItem> = {
  decode: decodeNative,
  gather: gatherNative,
  present: unmarshalItem,
};
