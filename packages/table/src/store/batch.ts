import { systemRandom } from '@stak/kit';
import type { Attributes, BatchWrite, DynamoClient, KeysToGet } from '../client/client.ts';
import { type PreparedWrite, prepare, preparedOf, unprepared } from '../client/prepared.ts';
import { backoff, busy } from '../client/retry.ts';
import { readPrepared, type Session, send, sendPrepared } from '../client/session.ts';
import type { AnyEntity } from '../design/entity.ts';
import { fromStored, hasKindOf, isExpired, keyOf } from '../design/item.ts';
import type { AnyTableKeys } from '../design/table.ts';
import { itemRefused } from '../errors.ts';
import * as limits from '../limits.ts';
import type { Ref, WriteStep } from '../writes/steps.ts';

// Identifies an item: DynamoDB refuses the same one twice in a batch.
const addressOf = ({ name, keys }: AnyTableKeys, key: Attributes): string =>
  JSON.stringify([name, key[keys.partition], keys.sort && key[keys.sort]]);

type EntryOfTable<T> = { table: AnyTableKeys; entry: T };
type BatchSession = Omit<Session, 'cursors'>;

// Results are in the order of the requested items.
export async function readBatch(
  session: Session,
  pattern: string,
  refs: readonly Ref<AnyEntity>[],
  consistent: boolean | undefined,
): Promise<(Attributes | undefined)[]> {
  const keys = refs.map(({ entity, key }) => ({ table: entity.table, entry: keyOf(entity, key) }));
  const found = await readKeys(session, pattern, keys, consistent);
  const nowMs = session.clock.now();
  return refs.map(({ entity }, i) => {
    const stored = found[i];
    return stored && hasKindOf(entity, stored) && !isExpired(entity, stored, nowMs)
      ? fromStored(entity, stored)
      : undefined;
  });
}

type StoredDeps = { client: DynamoClient; clock: Session['clock'] };
const sessionOf = (deps: StoredDeps): BatchSession => ({ random: systemRandom, ...deps });

/**
 * Reads items of any entity as they are stored, in the order of their keys; undefined for an item that does not exist.
 * For tools that copy tables.
 *
 *     const [ann] = await readStoredBatch({ client, clock }, people, [{ PK: 'USER#ann', SK: 'PROFILE' }]);
 */
export const readStoredBatch = (
  deps: StoredDeps,
  table: AnyTableKeys,
  keys: readonly Attributes[],
): Promise<(Attributes | undefined)[]> =>
  readKeys(
    sessionOf(deps),
    'read stored items',
    keys.map(entry => ({ table, entry })),
    true,
  );

async function readKeys(
  session: BatchSession,
  pattern: string,
  keys: readonly EntryOfTable<Attributes>[],
  consistent: boolean | undefined,
): Promise<(Attributes | undefined)[]> {
  const wanted = new Map<string, EntryOfTable<Attributes>>();
  const addresses = keys.map(one => {
    const address = addressOf(one.table, one.entry);
    wanted.set(address, one);
    return address;
  });
  const found = new Map<string, Attributes>();
  const prepared = preparedOf(session.client, 'batchGet');
  for (const chunk of chunks([...wanted.values()], limits.batchGetKeys)) {
    const gets = chunk.map(({ table, entry }) => ({ table: table.name, key: entry }));
    const run = prepared && (() => prepared.getEach(gets, consistent ?? false));
    const read = run && (await readPrepared(session, pattern, undefined, run));
    if (read) {
      for (const [i, stored] of read.items.entries())
        if (stored) found.set(addressOf(chunk[i]!.table, stored), stored);
      continue;
    }
    const tables = new Map(chunk.map(({ table }) => [table.name, table]));
    const requests: Record<string, KeysToGet> = {};
    for (const { table, entry } of chunk) {
      requests[table.name] ??= { Keys: [], ...(consistent && { ConsistentRead: true }) };
      requests[table.name]!.Keys.push(entry);
    }
    for await (const responses of readChunk(session, pattern, requests))
      for (const [table, items] of Object.entries(responses))
        for (const stored of items) found.set(addressOf(tables.get(table)!, stored), stored);
  }
  return addresses.map(address => found.get(address));
}

async function* readChunk(session: BatchSession, pattern: string, requests: Record<string, KeysToGet>) {
  let left = requests;
  for (let failures = 0; Object.keys(left).length > 0; failures++) {
    if (failures > 0) await pause(session, failures, countKeys(left));
    const answer = await send(session, 'read', pattern, { RequestItems: left }, session.client.batchGet);
    yield answer.Responses ?? {};
    left = answer.UnprocessedKeys ?? {};
  }
}

const countKeys = (requests: Record<string, KeysToGet>) =>
  Object.values(requests).reduce((sum, { Keys }) => sum + Keys.length, 0);

// No conditions, and not atomic: each item is written or not. If two writes change one item, the later one wins.
export async function writeBatch(
  session: Session,
  pattern: string,
  steps: readonly WriteStep[],
): Promise<void> {
  const nowMs = session.clock.now();
  if (await writePrepared(session, pattern, steps, nowMs)) return;
  const writes = steps.map(({ entity, build }) => {
    const built = build(nowMs);
    const [entry, condition]: [BatchWrite, string | undefined] =
      'Put' in built
        ? [{ PutRequest: { Item: built.Put.Item } }, built.Put.ConditionExpression]
        : 'Delete' in built
          ? [{ DeleteRequest: { Key: built.Delete.Key } }, built.Delete.ConditionExpression]
          : refuse(entity, 'only puts and deletes');
    if (condition !== undefined) refuse(entity, 'no conditions');
    return { table: entity.table, entry };
  });
  await sendWrites(session, pattern, writes);
}

// False if a wire operation is to be sent, for all of the writes: those that were made are then made again.
async function writePrepared(
  session: Session,
  pattern: string,
  steps: readonly WriteStep[],
  nowMs: number,
): Promise<boolean> {
  const prepared = preparedOf(session.client, 'batchWrite');
  const writes = prepared && prepare(() => steps.map(step => unconditional(step.prepare(nowMs))));
  if (!writes) return false;
  const last = new Map<string, PreparedWrite>();
  for (const [i, write] of writes.entries()) {
    const { table } = steps[i]!.entity;
    last.set(addressOf(table, write.kind === 'put' ? write.item : write.key), write);
  }
  for (const chunk of chunks([...last.values()], limits.batchWriteItems)) {
    const run = () => prepared.writeEach(chunk, { bills: session.ledger !== undefined });
    try {
      if (!(await sendPrepared(session, 'write', pattern, undefined, run))) return false;
    } catch {
      return false;
    }
  }
  return true;
}

function unconditional(write: PreparedWrite): PreparedWrite {
  if (write.condition || (write.kind !== 'put' && write.kind !== 'delete')) throw unprepared;
  return write;
}

/**
 * Writes and deletes items of any entity as they are stored. If two writes change one item, the later one wins.
 *
 *     await writeStoredBatch({ client, clock }, people, [{ PutRequest: { Item: ann } }]);
 */
export const writeStoredBatch = (
  deps: StoredDeps,
  table: AnyTableKeys,
  writes: readonly BatchWrite[],
): Promise<void> =>
  sendWrites(
    sessionOf(deps),
    'write stored items',
    writes.map(entry => ({ table, entry })),
  );

async function sendWrites(
  session: BatchSession,
  pattern: string,
  all: readonly EntryOfTable<BatchWrite>[],
): Promise<void> {
  const writes = new Map<string, EntryOfTable<BatchWrite>>();
  for (const item of all) {
    const { PutRequest, DeleteRequest } = item.entry;
    writes.set(addressOf(item.table, PutRequest?.Item ?? DeleteRequest!.Key), item);
  }
  for (const chunk of chunks([...writes.values()], limits.batchWriteItems)) {
    let left: Record<string, BatchWrite[]> = {};
    for (const { table, entry } of chunk) {
      left[table.name] ??= [];
      left[table.name]!.push(entry);
    }
    for (let failures = 0; Object.keys(left).length > 0; failures++) {
      if (failures > 0) await pause(session, failures, Object.values(left).flat().length);
      const requests = { RequestItems: left };
      const { batchWrite } = session.client;
      const answer = await send(session, 'write', pattern, requests, batchWrite, { mayRepeat: true });
      left = answer.UnprocessedItems ?? {};
    }
  }
}

function refuse(entity: AnyEntity, what: string): never {
  throw itemRefused(`a batch can have ${what} (of ${entity.name}): use a transaction`);
}

async function pause(session: BatchSession, failures: number, left: number): Promise<void> {
  if (failures >= limits.attempts) throw busy(undefined, { left });
  await backoff(session, failures - 1);
}

function* chunks<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size);
}
