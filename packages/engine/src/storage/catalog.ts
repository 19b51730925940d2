import { resourceNotFound } from '../errors.ts';
import type { Tx } from './committer.ts';
import { metaKey, prefixRange, space, tableKey } from './keys.ts';
import { decodeText, encodeJson, parseText, type Store } from './store.ts';
import type { Table } from './table.ts';

// The tables of the store, kept in memory. Another process may change them, so every look-up first compares a
// version number in the file; a table object is replaced, never edited, and stays the same while unchanged.

const versionKey = metaKey('catalog');
const decodeVersion = (bytes: Buffer): number => bytes.readUInt32BE(0);

export type Catalog = ReturnType<typeof createCatalog>;

export function createCatalog(store: Store) {
  let version = -1;
  let tables = new Map<string, Table>();
  let byText = new Map<string, Table>(); // as stored: a table that did not change is not parsed again
  let creating = new Map<string, Table>();
  let byId = new Map<number, Table>();
  let changes = 0; // of this process

  function refresh(): void {
    const current = store.get(versionKey, decodeVersion) ?? 0;
    if (current === version) return;
    const next = new Map<string, Table>();
    for (const { value: text } of store.range(prefixRange(Buffer.from([space.table])), decodeText))
      next.set(text, byText.get(text) ?? (parseText(text) as Table));
    byText = next;
    const named = (list: Table[]) => new Map(list.map(table => [table.name, table]));
    tables = named([...next.values()].filter(table => !table.isCreating));
    creating = named([...next.values()].filter(table => table.isCreating));
    byId = new Map([...next.values()].map(table => [table.id, table]));
    version = current;
  }

  function find(name: string): Table | undefined {
    refresh();
    return tables.get(name) ?? findAgain(name);
  }

  // Before a table is reported missing: another process may have created it a moment ago.
  function findAgain(name: string): Table | undefined {
    store.refresh();
    refresh();
    return tables.get(name);
  }

  function findById(id: number): Table | undefined {
    refresh();
    return byId.get(id);
  }

  // Also one that is being created.
  function findAny(name: string): Table | undefined {
    return find(name) ?? creating.get(name);
  }

  const all = (): Table[] => [...list(), ...creating.values()];

  function list(): Table[] {
    refresh();
    return [...tables.values()];
  }

  function get(name: string, missing?: string): Table {
    const table = find(name);
    if (!table) throw resourceNotFound(missing);
    return table;
  }

  function save(tx: Tx, table: Table): void {
    tx.put(tableKey(table.name), encodeJson(table));
    bump(tx);
  }

  function drop(tx: Tx, table: Table): void {
    tx.remove(tableKey(table.name));
    bump(tx);
  }

  function bump(tx: Tx): void {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32BE(((store.get(versionKey, decodeVersion) ?? 0) + 1) >>> 0);
    tx.put(versionKey, bytes);
    forget();
  }

  // Also after a rollback: the version in memory may never have reached the file.
  function forget(): void {
    version = -1;
    changes++;
  }

  return {
    find,
    findAny,
    get,
    findById,
    list,
    all,
    save,
    drop,
    forget,
    // Within one write transaction, tables stay as they are while this number does.
    changes: () => changes,
  };
}
