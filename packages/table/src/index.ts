export { type AttributeDoc, attributesOf } from './attribute-doc.ts';
export { readStoredBatch, writeStoredBatch } from './batch.ts';
export { type CapacityEntry, createLedger, type Ledger } from './capacity.ts';
export type {
  Attributes,
  BatchWrite,
  ControlOperation,
  ControlPlane,
  DynamoClient,
  RemoteClient,
} from './client.ts';
export { is } from './comparison.ts';
export { and, type Condition, not, or } from './condition.ts';
export {
  type Attempt,
  type ConflictRetry,
  conflict,
  done,
  failedCondition,
  ignoreConflict,
  isConflict,
  isRefused,
  progress,
  retryConflicts,
} from './conflict.ts';
export { createTables, type TableReport } from './create-tables.ts';
export { createWithin } from './create-within.ts';
export { type Cursors, createCursors } from './cursor.ts';
export { withDeadline } from './deadline.ts';
export { designDoc } from './design-doc.ts';
export { createDueShards, type DueShards, type DueShardsOptions } from './due-shards.ts';
export {
  type AnyEntity,
  type Entity,
  entity,
  type InputOf,
  type ItemOf,
  type KeyOf,
  type Templates, // named by the declarations of an entity
} from './entity.ts';
export { DesignError, tableErrors } from './errors.ts';
export { failedStep, type StepFailure } from './failure.ts';
export { defineInsights, type Insight, type InsightDefinition, type InsightRow } from './insight.ts';
export { entityOf, findEntity, hasKeyOf, isExpired, keyOf, type Recognised, recognise } from './item.ts';
export { itemBytes } from './item-bytes.ts';
export { type KeyPiece, matchesTemplate, piecesOf } from './key-template.ts';
export { measureCosts } from './measure.ts';
export {
  createOwners,
  type FindOwner,
  type Owner,
  type Ownership,
  ownedByItem,
  ownedByKey,
  ownedByNobody,
} from './owner.ts';
export type { PageOptions, ResultPage } from './page.ts';
export { checkParams, deleteParams, getParams, putParams } from './params.ts';
export { type AccessPattern, type KeyCondition, patternsOf } from './pattern.ts';
export { controlWithPrefix, withPrefix } from './prefix.ts';
export { type AnyQuery, defineQuery, type Query, queryParams, type ResultOf } from './query.ts';
export { isUnavailable, retryWhileLeased } from './retry.ts';
export { type NamedStep, type Ref, ref, type WriteStep, write } from './steps.ts';
export { createStore, type Store, type StoreOptions } from './store.ts';
export { keysAt, readStored, type StoredPage, type StoredQuery, storedParams } from './stored.ts';
export {
  type AnyTable,
  type AnyTableKeys,
  defineKeys,
  defineTable,
  extendTable,
  type Table,
  type TableDefinition,
  type TableKeys, // named by the declarations of a table's entities
} from './table.ts';
export { tableRequest } from './table-request.ts';
export { untagItem } from './tagged.ts';
export { type Change, updateParams } from './update.ts';
