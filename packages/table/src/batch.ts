import type { Attributes, BatchWrite, KeysToGet } from './client.ts';
import type { AnyEntity } from './entity.ts';
import { itemRefused } from './errors.ts';
import { fromStored, hasKindOf, isExpired, keyOf } from './item.ts';
import * as limits from './limits.ts';
import { backoff, busy } from './retry.ts';
import { type Session, send } from './session.ts';
import type { Ref, WriteStep } from './steps.ts';

// An item's address: DynamoDB refuses the same one twice in a batch.
const addressOf = ({ table }: AnyEntity, key: Attributes): string =>
  JSON.stringify([table.name, key[table.keys.partition], table.keys.sort && key[table.keys.sort]]);

// Answers stand where their questions stood.
export async function readBatch(
  session: Session,
  pattern: string,
  refs: readonly Ref<AnyEntity>[],
  consistent: boolean | undefined,
): Promise<(Attributes | undefined)[]> {
  const wanted = new Map<string, { entity: AnyEntity; key: Attributes }>();
  const addresses = refs.map(({ entity, key }) => {
    const built = keyOf(entity, key);
    const address = addressOf(entity, built);
    wanted.set(address, { entity, key: built });
    return address;
  });
  const found = new Map<string, Attributes>();
  for (const chunk of chunks([...wanted.values()], limits.batchGetKeys)) {
    const entities = new Map(chunk.map(({ entity }) => [entity.table.name, entity]));
    const requests: Record<string, KeysToGet> = {};
    for (const { entity, key } of chunk) {
      const { name } = entity.table;
      requests[name] ??= { Keys: [], ...(consistent && { ConsistentRead: true }) };
      requests[name].Keys.push(key);
    }
    for await (const responses of readChunk(session, pattern, requests))
      for (const [table, items] of Object.entries(responses))
        for (const stored of items) found.set(addressOf(entities.get(table)!, stored), stored);
  }
  const nowMs = session.clock.now();
  return refs.map(({ entity }, i) => {
    const stored = found.get(addresses[i]!);
    return stored && hasKindOf(entity, stored) && !isExpired(entity, stored, nowMs)
      ? fromStored(entity, stored)
      : undefined;
  });
}

async function* readChunk(session: Session, pattern: string, requests: Record<string, KeysToGet>) {
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

// No conditions, and not all or nothing: each item is written or not. Of two writes to one item the later one
// is made.
export async function writeBatch(
  session: Session,
  pattern: string,
  steps: readonly WriteStep[],
): Promise<void> {
  const nowMs = session.clock.now();
  const writes = new Map<string, { table: string; request: BatchWrite }>();
  for (const { entity, build } of steps) {
    const built = build(nowMs);
    const [key, request, condition] =
      'Put' in built
        ? [built.Put.Item, { PutRequest: { Item: built.Put.Item } }, built.Put.ConditionExpression]
        : 'Delete' in built
          ? [built.Delete.Key, { DeleteRequest: { Key: built.Delete.Key } }, built.Delete.ConditionExpression]
          : refuse(entity, 'only puts and deletes');
    if (condition !== undefined) refuse(entity, 'no conditions');
    writes.set(addressOf(entity, key), { table: entity.table.name, request });
  }
  for (const chunk of chunks([...writes.values()], limits.batchWriteItems)) {
    let left: Record<string, BatchWrite[]> = {};
    for (const { table, request } of chunk) {
      left[table] ??= [];
      left[table].push(request);
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

async function pause(session: Session, failures: number, left: number): Promise<void> {
  if (failures >= limits.attempts) throw busy(undefined, { left });
  await backoff(session, failures - 1);
}

function* chunks<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let i = 0; i < all.length; i += size) yield all.slice(i, i + size);
}
