import { readUnits } from '../capacity.ts';
import { beginRead, type Context } from '../context.ts';
import * as limits from '../limits.ts';
import { decodeNative, decodeSize } from '../storage/codec.ts';
import type { NativeItem } from '../values/marshal.ts';
import { exactKeyOf } from './keys.ts';
import { type Layout, layoutOf } from './layout.ts';
import { unsupported } from './values.ts';
import { addUnits, type TableUnits } from './write.ts';

// Items by their keys. Reads happen at once, so several of them see one moment.

/** An item to be read. */
export type PreparedGet = { readonly table: string; readonly key: NativeItem };

export type PreparedItem = { Item?: NativeItem | undefined; ConsumedCapacity: TableUnits };
/** The items are in the order of their keys. */
export type PreparedItems = { items: (NativeItem | undefined)[]; ConsumedCapacity: TableUnits[] };

export function createPreparedReads(context: Context) {
  const { store, onUsage } = context;
  let size = 0; // of the item that was read last
  const decode = (bytes: Buffer, end: number): NativeItem => {
    size = decodeSize(bytes);
    return decodeNative(bytes, end);
  };
  function read(layout: Layout, key: NativeItem): NativeItem | undefined {
    size = 0;
    return store.get(exactKeyOf(layout, key), decode);
  }

  function report(layout: Layout, key: NativeItem, units: number): void {
    onUsage?.({ table: layout.table.name, partition: key[layout.hash], kind: 'read', units });
  }

  return {
    get({ table, key }: PreparedGet, consistent: boolean): PreparedItem {
      beginRead(context, consistent);
      const layout = findLayout(context, table);
      const Item = read(layout, key);
      const units = readUnits(size, consistent);
      report(layout, key, units);
      return { Item, ConsumedCapacity: { TableName: table, CapacityUnits: units } };
    },

    /** No item twice. */
    getEach(gets: readonly PreparedGet[], consistent: boolean): PreparedItems {
      if (gets.length === 0 || gets.length > limits.batchGetKeys) throw unsupported;
      beginRead(context, consistent);
      const layouts = gets.map(({ table }) => findLayout(context, table));
      const ConsumedCapacity: TableUnits[] = [];
      let bytes = 0;
      const items = gets.map(({ table, key }, i) => {
        const item = read(layouts[i]!, key);
        bytes += size;
        const units = readUnits(size, consistent);
        addUnits(ConsumedCapacity, table, units);
        report(layouts[i]!, key, units);
        return item;
      });
      if (bytes >= limits.batchGetBytes) throw unsupported;
      return { items, ConsumedCapacity };
    },

    getTogether(gets: readonly PreparedGet[]): PreparedItems {
      if (gets.length === 0 || gets.length > limits.transactionActions) throw unsupported;
      beginRead(context, true);
      const layouts = gets.map(({ table }) => findLayout(context, table));
      const keys = gets.map(({ key }, i) => exactKeyOf(layouts[i]!, key));
      if (new Set(keys.map(key => key.toString('latin1'))).size < keys.length) throw unsupported;
      const ConsumedCapacity: TableUnits[] = [];
      let bytes = 0;
      const items = gets.map(({ table, key }, i) => {
        size = 0;
        const item = store.get(keys[i]!, decode);
        bytes += size;
        const units = 2 * readUnits(size, true);
        addUnits(ConsumedCapacity, table, units);
        report(layouts[i]!, key, units);
        return item;
      });
      if (bytes > limits.transactionBytes) throw unsupported;
      return { items, ConsumedCapacity };
    },
  };
}

export function findLayout({ catalog }: Context, name: string): Layout {
  const table = catalog.find(name);
  if (!table) throw unsupported;
  return layoutOf(table);
}
