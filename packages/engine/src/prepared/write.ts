import type { Context } from '../context.ts';
import { type CancellationReason, conditionFailed, DynamoError } from '../errors.ts';
import * as limits from '../limits.ts';
import { decodeBeside, decodeSize } from '../storage/codec.ts';
import type { Tx } from '../storage/committer.ts';
import { decodePlain, encodePlain } from '../storage/plain-item.ts';
import { copyBytes } from '../storage/store.ts';
import type { NativeItem } from '../values/marshal.ts';
import { applyChanges, type Change, copyChanges } from './change.ts';
import { checkTest, evaluateTest, type Test } from './condition.ts';
import { exactKeyOf, itemKeyOf } from './keys.ts';
import { createTableFinder, indexKeyPart, type Layout } from './layout.ts';
import { equalMaps, unsupported } from './values.ts';
import { checkVector } from './vectors.ts';
import { applyWrite, type ItemWrite } from './write-change.ts';

// Writes of plain values, with conditions and changes as data. Like the wire operations, a write is decided first, and
// applied when all of its transaction are decided.

type Guarded = { readonly table: string; readonly condition?: Test | undefined };

/** One write of an item. */
export type PreparedWrite =
  | (Guarded & { readonly kind: 'put'; readonly item: NativeItem })
  | (Guarded & { readonly kind: 'update'; readonly key: NativeItem; readonly changes: readonly Change[] })
  | (Guarded & { readonly kind: 'delete' | 'check'; readonly key: NativeItem });

/** Selects the image of the item to return, and whether units are counted. */
export type WriteOptions = { returns?: 'old' | 'new' | undefined; bills: boolean };

/** `mayWait`: nobody waits for the writes, so they may join the commit of others. */
export type GroupOptions = { bills: boolean; mayWait?: boolean | undefined };

/** Units consumed of a table. */
export type TableUnits = { TableName: string; CapacityUnits: number };

export type PreparedResult = { item?: NativeItem | undefined; ConsumedCapacity?: TableUnits | undefined };
export type PreparedResults = { ConsumedCapacity?: TableUnits[] | undefined };

// A write whose values are checked, copied and encoded: everything that needs no table.
type Draft = {
  readonly write: PreparedWrite;
  readonly nested: readonly string[] | undefined; // attributes that the condition reaches into
  readonly changes: readonly Change[] | undefined;
  readonly bytes: Buffer | undefined;
  readonly size: number;
};

function draftOf(write: PreparedWrite): Draft {
  const nested = write.condition && checkTest(write.condition);
  if (write.kind === 'put') {
    const encoded = encodePlain(write.item);
    if (!encoded) throw unsupported;
    return { write, nested, changes: undefined, bytes: encoded.bytes, size: encoded.size };
  }
  const changes = write.kind === 'update' ? copyChanges(write.changes) : undefined;
  return { write, nested, changes, bytes: undefined, size: 0 };
}

export function createPreparedWrites(context: Context) {
  const { store, submit } = context;
  const tableIn = createTableFinder(context);

  function plan(tx: Tx, { write, nested, bytes, size }: Draft): ItemWrite {
    const layout = tableIn(tx, write.table);
    if (!layout.canWrite) throw unsupported;
    checkPaths(layout, write, nested);
    const isPut = write.kind === 'put';
    return {
      layout,
      key: isPut ? itemKeyOf(layout, write.item) : exactKeyOf(layout, write.key),
      target: isPut ? write.item : write.key,
      beforeBytes: undefined,
      before: undefined,
      beforeSize: 0,
      after: isPut ? write.item : undefined,
      afterBytes: bytes,
      afterSize: size,
      isUnchanged: false,
    };
  }

  // Whether the condition holds.
  function decide(item: ItemWrite, { write, changes }: Draft): boolean {
    const bytes = store.get(item.key, copyBytes);
    if (bytes) {
      item.beforeBytes = bytes;
      item.beforeSize = decodeSize(bytes);
    }
    if (write.condition && !holds(item, write.condition)) return false;
    if (changes) update(item, changes);
    else if (write.kind === 'check') {
      item.afterBytes = bytes;
      item.afterSize = item.beforeSize;
    }
    settle(item);
    return true;
  }

  async function writeOne(
    draft: Draft,
    { returns, bills }: WriteOptions,
  ): Promise<PreparedResult | undefined> {
    const result = await submit(tx => {
      try {
        const item = plan(tx, draft);
        if (!decide(item, draft)) return refusal(item);
        if (returns === 'old') beforeOf(item);
        const units = applyWrite(context, tx, item, 1, bills);
        return {
          item: returns === 'old' ? item.before : returns === 'new' ? item.after : undefined,
          ConsumedCapacity: bills ? { TableName: draft.write.table, CapacityUnits: units } : undefined,
        };
      } catch (error) {
        if (error === unsupported) return undefined;
        throw error;
      }
    });
    if (result instanceof DynamoError) throw result;
    return result;
  }

  async function writeAll(
    drafts: readonly Draft[],
    { isTransaction, bills, mayWait = false }: GroupOptions & { isTransaction: boolean },
  ): Promise<PreparedResults | undefined> {
    const result = await submit(
      tx => {
        try {
          const items = drafts.map(draft => plan(tx, draft));
          checkDistinct(items);
          let isRefused = false;
          const decided = drafts.map((draft, i) => {
            const isDecided = decide(items[i]!, draft);
            isRefused ||= !isDecided;
            return isDecided;
          });
          if (isRefused) return cancellation(items, decided);
          const units: TableUnits[] = [];
          items.forEach((item, i) => {
            const amount = applyWrite(context, tx, item, isTransaction ? 2 : 1, bills);
            if (bills) addUnits(units, drafts[i]!.write.table, amount);
          });
          return { ConsumedCapacity: bills ? units : undefined };
        } catch (error) {
          if (error === unsupported) return undefined;
          throw error;
        }
      },
      { mayWait },
    );
    if (result instanceof DynamoError) throw result;
    return result;
  }

  return {
    /** Undefined at once, or later, if the write is not supported: then nothing was written. */
    writeOne: (
      write: PreparedWrite,
      options: WriteOptions,
    ): Promise<PreparedResult | undefined> | undefined => {
      const draft = attempt(() => draftOf(write));
      return draft && writeOne(draft, options);
    },
    /** All or nothing, like TransactWriteItems. */
    writeTogether: (
      writes: readonly PreparedWrite[],
      { bills, mayWait }: GroupOptions,
    ): Promise<PreparedResults | undefined> | undefined => {
      const drafts = attempt(() => draftsOf(writes));
      return drafts && writeAll(drafts, { isTransaction: true, bills, mayWait });
    },
    /** Puts and deletes without conditions, like BatchWriteItem. */
    writeEach: (
      writes: readonly PreparedWrite[],
      { bills }: { bills: boolean },
    ): Promise<PreparedResults | undefined> | undefined => {
      const drafts = attempt(() => draftsOf(writes));
      return drafts && writeAll(drafts, { isTransaction: false, bills });
    },
  };
}

export function attempt<T>(build: () => T): T | undefined {
  try {
    return build();
  } catch (error) {
    if (error === unsupported) return undefined;
    throw error;
  }
}

function draftsOf(writes: readonly PreparedWrite[]): Draft[] {
  if (writes.length === 0 || writes.length > limits.transactionActions) throw unsupported;
  const drafts = writes.map(draftOf);
  // The limit of a transaction also counts keys, which are much smaller than this margin.
  let bytes = 0;
  for (const { size } of drafts) bytes += size;
  if (bytes > limits.transactionBytes / 2) throw unsupported;
  return drafts;
}

// No item twice.
function checkDistinct(items: readonly ItemWrite[]): void {
  if (items.length > 8) {
    if (new Set(items.map(({ key }) => key.toString('latin1'))).size < items.length) throw unsupported;
    return;
  }
  for (let i = 1; i < items.length; i++)
    for (let j = 0; j < i; j++) if (items[i]!.key.equals(items[j]!.key)) throw unsupported;
}

function beforeOf(item: ItemWrite): NativeItem | undefined {
  if (item.before || !item.beforeBytes) return item.before;
  item.before = decodePlain(item.beforeBytes);
  if (!item.before) throw unsupported;
  return item.before;
}

const nothing: NativeItem = {};

function holds(item: ItemWrite, condition: Test): boolean {
  if (!item.beforeBytes) return evaluateTest(condition, nothing);
  // The usual condition of a put does not need the item, only whether there is one.
  if (condition.op === 'attribute_not_exists' && condition.path === item.layout.hash) return false;
  return evaluateTest(condition, beforeOf(item)!);
}

function update(item: ItemWrite, changes: readonly Change[]): void {
  const before = beforeOf(item);
  if (before) item.before = { ...before };
  const after = applyChanges(changes, before ?? copyKey(item.target), !before);
  const encoded = encodePlain(after);
  if (!encoded) throw unsupported;
  item.after = after;
  item.afterBytes = encoded.bytes;
  item.afterSize = encoded.size;
}

function copyKey(key: NativeItem): NativeItem {
  const copy: NativeItem = {};
  for (const name in key) copy[name] = key[name];
  return copy;
}

// A key is a scalar, and that of the item cannot change.
function checkPaths(
  { hash, range, keyNames }: Layout,
  write: PreparedWrite,
  nested: readonly string[] | undefined,
): void {
  if (nested?.some(name => keyNames.has(name))) throw unsupported;
  if (write.kind !== 'update') return;
  for (const { path } of write.changes) {
    if (path === hash || path === range) throw unsupported;
    if (typeof path === 'object' && keyNames.has(path[0]!)) throw unsupported;
  }
}

// Everything that can still be unsupported, before the first write.
function settle(item: ItemWrite): void {
  const { layout, beforeBytes, afterBytes, after } = item;
  if (!beforeBytes && !afterBytes) {
    item.isUnchanged = true;
    return;
  }
  const { indexes, vectors, ttl } = layout;
  const [vector] = vectors;
  if (vector && !item.before && beforeBytes && afterBytes && after)
    item.before = decodeBeside(beforeBytes, { bytes: afterBytes, item: after }, vector.index.attribute);
  item.isUnchanged = isUnchanged(item);
  if (item.isUnchanged || (indexes.length + vectors.length === 0 && ttl === undefined)) return;
  const before = beforeOf(item);
  if (before) checkIndexKeys(layout, before);
  if (after) checkIndexKeys(layout, after);
  if (indexes.length > 0 && item.key.length > 600) throw unsupported;
}

function isUnchanged(item: ItemWrite): boolean {
  const { beforeBytes, afterBytes, beforeSize, afterSize } = item;
  if (!beforeBytes || !afterBytes) return false;
  if (beforeBytes === afterBytes) return true;
  // Equal items have texts of one length: only the order of their attributes may differ.
  if (beforeSize !== afterSize || beforeBytes.length !== afterBytes.length) return false;
  return beforeBytes.equals(afterBytes) || equalMaps(beforeOf(item)!, item.after!);
}

/** Every index key and vector that the item has can be stored. */
export function checkIndexKeys({ indexes, vectors }: Layout, item: NativeItem): void {
  for (const vector of vectors) checkVector(vector, item);
  for (const { hash, range } of indexes) {
    indexKeyPart(item, hash, true);
    if (range !== undefined) indexKeyPart(item, range, false);
  }
}

/** The errors of prepared writes have the stored item as plain values. */
type PreparedReason = Omit<CancellationReason, 'Item'> & { current?: NativeItem | undefined };

const refusal = (item: ItemWrite): DynamoError =>
  Object.assign(conditionFailed(), { current: beforeOf(item) });

function cancellation(items: readonly ItemWrite[], decided: readonly boolean[]): DynamoError {
  const reasons = items.map((item, i): PreparedReason => {
    if (decided[i]) return { Code: 'None' };
    const Message = 'The conditional request failed';
    return { Code: 'ConditionalCheckFailed', Message, current: beforeOf(item) };
  });
  const list = reasons.map(({ Code }) => Code).join(', ');
  return new DynamoError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${list}]`,
    { CancellationReasons: reasons },
  );
}

export function addUnits(units: TableUnits[], table: string, amount: number): void {
  const known = units.find(({ TableName }) => TableName === table);
  if (known) known.CapacityUnits += amount;
  else units.push({ TableName: table, CapacityUnits: amount });
}
