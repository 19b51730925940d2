export { type CapacityEntry, createLedger, type Ledger } from './client/capacity.ts';
export type {
  Attributes,
  BatchWrite,
  ControlOperation,
  ControlPlane,
  DynamoClient,
  RemoteClient,
} from './client/client.ts';
export { type Cursors, createCursors } from './client/cursor.ts';
export { withDeadline } from './client/deadline.ts';
export { itemBytes } from './client/item-bytes.ts';
export { controlWithPrefix, withPrefix } from './client/prefix.ts';
export { isUnavailable, retryWhileLeased } from './client/retry.ts';
export { is } from './conditions/comparison.ts';
export { and, type Condition, not, or } from './conditions/condition.ts';
export { type Change, updateParams } from './conditions/update.ts';
export { type AttributeDoc, attributesOf } from './design/attribute-doc.ts';
export { createTables, type TableReport } from './design/create-tables.ts';
export { designDoc } from './design/design-doc.ts';
export {
  type AnyEntity,
  type Entity,
  entity,
  type InputOf,
  type ItemOf,
  type KeyOf,
  type Templates, // named by the declarations of an entity
} from './design/entity.ts';
export { defineInsights, type Insight, type InsightDefinition, type InsightRow } from './design/insight.ts';
export {
  entityOf,
  findEntity,
  hasKeyOf,
  isExpired,
  keyOf,
  type Recognised,
  recognise,
} from './design/item.ts';
export { type KeyPiece, matchesTemplate, piecesOf } from './design/key-template.ts';
export {
  createOwners,
  type FindOwner,
  type Owner,
  type Ownership,
  ownedByItem,
  ownedByKey,
  ownedByNobody,
} from './design/owner.ts';
export { type AccessPattern, type KeyCondition, patternsOf } from './design/pattern.ts';
export {
  type AnyTable,
  type AnyTableKeys,
  defineKeys,
  defineTable,
  extendTable,
  type Table,
  type TableDefinition,
  type TableKeys, // named by the declarations of a table's entities
} from './design/table.ts';
export { tableRequest } from './design/table-request.ts';
export { DesignError, isMalformed, tableErrors } from './errors.ts';
export { readStoredBatch, writeStoredBatch } from './store/batch.ts';
export { createWithin } from './store/create-within.ts';
export { createDueShards, type DueShards, type DueShardsOptions } from './store/due-shards.ts';
export { measureCosts } from './store/measure.ts';
export type { PageOptions, ResultPage } from './store/page.ts';
export { type AnyQuery, defineQuery, type Query, queryParams, type ResultOf } from './store/query.ts';
export type { Found, SearchOptions } from './store/search.ts';
export { createStore, type Store, type StoreOptions } from './store/store.ts';
export { keysAt, readStored, type StoredPage, type StoredQuery, storedParams } from './store/stored.ts';
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
} from './writes/conflict.ts';
export { failedStep, type StepFailure } from './writes/failure.ts';
export { checkParams, deleteParams, getParams, putParams } from './writes/params.ts';
export { type NamedStep, type Ref, ref, type WriteStep, write } from './writes/steps.ts';
export { untagItem } from './writes/tagged.ts';
