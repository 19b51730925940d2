import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { DynamoError, validationError } from '../errors.ts';
import { writeChange } from '../item-writer.ts';
import { decodeItem, decodeSize } from '../storage/codec.ts';
import type { Tx } from '../storage/committer.ts';
import { head, prefixRange, space } from '../storage/keys.ts';
import {
  type Index,
  type KeySchema,
  type RestoredFrom,
  type Table,
  type VectorIndex,
  vectorsOf,
} from '../storage/table.ts';
import type { RestoreOverrides } from '../validation/backups.ts';
import { checkThroughput } from '../validation/table-definition.ts';
import { onDemandOnly } from '../validation/vector-indexes.ts';
import { findBackup } from './backups.ts';
import { encryptionOf, onDemandOf } from './definition.ts';
import { keyElements } from './description.ts';
import { withIds } from './ids.ts';
import { currentItems, type ItemSource, itemSource, withId } from './item-source.ts';
import { discardTable, startGarbageRemoval } from './removal.ts';

// A table that is made from a backup, or from an earlier moment of another one. It is in the catalog from the beginning,
// as one that is being created: its name is taken, it is described, and nothing reads or writes its items. They are
// written in the order of their keys, so work that a crash interrupted continues after the last one.

function defineRestored(
  context: Context,
  source: Table,
  name: string,
  { overrides, from }: { overrides: RestoreOverrides; from: RestoredFrom },
  newId: () => number,
): Table {
  const now = context.now();
  const billing = overrides.BillingModeOverride ?? source.billing;
  const isOnDemand = billing === 'PAY_PER_REQUEST';
  const throughput = overrides.ProvisionedThroughputOverride;
  const sse = overrides.SSESpecificationOverride;
  const onDemand = overrides.OnDemandThroughputOverride
    ? onDemandOf(overrides.OnDemandThroughputOverride)
    : source.onDemand;
  return {
    id: newId(),
    uuid: randomUUID(),
    name,
    createdAt: now,
    keys: source.keys,
    indexes: [
      ...keptIndexes(source, 'local', overrides.LocalSecondaryIndexOverride),
      ...keptIndexes(source, 'global', overrides.GlobalSecondaryIndexOverride),
    ].map(index => ({ ...index, id: newId(), status: 'ACTIVE' as const })),
    ...withVectors(keptVectors(source, overrides.VectorIndexOverride), newId),
    billing,
    throughput: throughput
      ? { read: throughput.ReadCapacityUnits, write: throughput.WriteCapacityUnits }
      : isOnDemand
        ? { read: 0, write: 0 }
        : { read: source.throughput.read, write: source.throughput.write },
    ...(isOnDemand && { onDemandSince: source.onDemandSince ?? now }),
    ...(isOnDemand && onDemand && { onDemand }),
    ...(source.warm && { warm: source.warm }),
    ...(source.tableClass && { tableClass: source.tableClass }),
    deletionProtection: false,
    ...(sse ? sse.Enabled && { sse: encryptionOf(sse) } : source.sse && { sse: source.sse }),
    streams: [],
    tags: {},
    isCreating: true,
    restoredFrom: from,
  };
}

const describeKeys = (keys: KeySchema): string => JSON.stringify(keyElements(keys));

type IndexOverride = NonNullable<
  RestoreOverrides['GlobalSecondaryIndexOverride'] | RestoreOverrides['LocalSecondaryIndexOverride']
>[number];

// Indexes can be left out, and none can be added.
function keptIndexes({ indexes }: Table, kind: Index['kind'], wanted: IndexOverride[] | undefined): Index[] {
  const candidates = indexes.filter(index => index.kind === kind && index.status !== 'DELETING');
  if (!wanted) return candidates;
  return wanted.map(override => {
    const index = candidates.find(({ name }) => name === override.IndexName);
    if (!index || describeKeys(index.keys) !== JSON.stringify(override.KeySchema)) {
      throw validationError(
        'One or more parameter values were invalid: Indexes provided in the override do not match the indexes of ' +
          `the source: ${override.IndexName}`,
      );
    }
    const { ProvisionedThroughput: throughput, OnDemandThroughput: onDemand } = override as {
      ProvisionedThroughput?: { ReadCapacityUnits: number; WriteCapacityUnits: number };
      OnDemandThroughput?: { MaxReadRequestUnits?: number; MaxWriteRequestUnits?: number };
    };
    return {
      ...index,
      ...(throughput && {
        throughput: { read: throughput.ReadCapacityUnits, write: throughput.WriteCapacityUnits },
      }),
      ...(onDemand && { onDemand: onDemandOf(onDemand) }),
    };
  });
}

// They are made again from the items, as DynamoDB does.
const withVectors = (kept: VectorIndex[], newId: () => number) =>
  kept.length > 0 && {
    vectors: kept.map(index => ({ ...index, id: newId(), status: 'ACTIVE' as const })),
  };

function keptVectors(source: Table, wanted: RestoreOverrides['VectorIndexOverride']): VectorIndex[] {
  const candidates = vectorsOf(source).filter(index => index.status !== 'DELETING');
  if (!wanted) return candidates;
  return wanted.map(({ IndexName: name, Dimensions, DistanceFunction, VectorAttribute }) => {
    const found = candidates.find(index => index.name === name);
    const isSame =
      found?.dimensions === Dimensions &&
      found.distance === DistanceFunction &&
      found.attribute === VectorAttribute.AttributeName;
    if (isSame) return found;
    throw validationError(
      'One or more parameter values were invalid: Indexes provided in the override do not match the indexes of ' +
        `the source: ${name}`,
    );
  });
}

export function checkOverrides(source: Table, overrides: RestoreOverrides): void {
  const throughput = overrides.ProvisionedThroughputOverride;
  const billing = overrides.BillingModeOverride ?? source.billing;
  if (throughput && billing === 'PAY_PER_REQUEST') {
    throw validationError(
      'One or more parameter values were invalid: ' +
        'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST',
    );
  }
  if (!throughput && overrides.BillingModeOverride === 'PROVISIONED' && source.billing !== 'PROVISIONED') {
    throw validationError(
      'One or more parameter values were invalid: ' +
        'ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED',
    );
  }
  if (throughput) checkThroughput(throughput);
  if (billing !== 'PAY_PER_REQUEST' && keptVectors(source, overrides.VectorIndexOverride).length > 0)
    throw onDemandOnly();
}

/** Creates the table, and fills it in the background. */
export async function startRestore(
  context: Context,
  source: Table,
  name: string,
  { overrides, from }: { overrides: RestoreOverrides; from: RestoredFrom },
  items?: ItemSource,
): Promise<Table> {
  const table = await context
    .submit(tx => {
      if (context.catalog.findAny(name))
        throw new DynamoError('TableAlreadyExistsException', `Table already exists: ${name}`);
      const defined = withIds(context.store, tx, newId =>
        defineRestored(context, source, name, { overrides, from }, newId),
      );
      context.catalog.save(tx, defined);
      return defined;
    })
    .catch(async error => {
      await items?.close();
      throw error;
    });
  continueRestore(context, table, items);
  return table;
}

export function continueRestore(context: Context, table: Table, items?: ItemSource): void {
  const current = (): Table | undefined => {
    const current = context.catalog.findById(table.id);
    return current?.isCreating ? current : undefined;
  };
  context.background(`restore table ${table.id}`, async signal => {
    let source: ItemSource | undefined = items;
    try {
      source ??= await openSource(context, table.restoredFrom!);
      await fill(context, table, source, current, signal);
    } catch (error) {
      if (signal.aborted) return;
      await context.submit(tx => {
        const unfinished = current();
        if (!unfinished) return;
        discardTable(tx, unfinished);
        context.catalog.drop(tx, unfinished);
      });
      startGarbageRemoval(context);
      throw error;
    } finally {
      await source?.close();
    }
  });
}

async function openSource(context: Context, { backupArn, tableId, at }: RestoredFrom): Promise<ItemSource> {
  if (backupArn !== undefined) {
    const backup = findBackup(context, backupArn);
    if (!backup) throw new Error(`the backup ${backupArn} is gone`);
    return itemSource(context.store, backup.id);
  }
  if (!context.history) return currentItems(context.store, tableId!);
  return context.history.openItems(tableId!, at);
}

async function fill(
  context: Context,
  table: Table,
  source: ItemSource,
  current: () => Table | undefined,
  signal: AbortSignal,
): Promise<void> {
  let last = lastKey(context, table.id);
  for (let isDone = false; !isDone && !signal.aborted; ) {
    const items = source.read(last);
    last = items.at(-1)?.key ?? last;
    isDone = await context.submit((tx: Tx) => {
      const found = current();
      if (!found) return true;
      const now = context.now();
      for (const { key: suffix, bytes } of items) {
        const key = withId(table.id, suffix);
        // Another process may do the same work.
        if (tx.has(key)) continue;
        const after = { item: decodeItem(bytes), bytes, size: decodeSize(bytes) };
        writeChange(tx, { table: found, key, after, now });
      }
      if (items.length > 0) return false;
      const { isCreating: _, ...ready } = found;
      context.catalog.save(tx, ready);
      return true;
    });
  }
}

function lastKey({ store }: Context, tableId: number): Buffer | undefined {
  const range = prefixRange(head(space.item, tableId));
  for (const { key } of store.keys({ ...range, reverse: true })) return Buffer.from(key.subarray(5));
  return undefined;
}
