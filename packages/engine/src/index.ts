export type { Client } from './client/client.ts';
export type { DocumentClient } from './client/document-client.ts';
export { createEngine, type Engine, type EngineOptions } from './engine.ts';
export { type CancellationReason, DynamoError } from './errors.ts';
export { createHttpServer, type HttpServer, type HttpServerOptions } from './http/server.ts';
export {
  type JournalChunk,
  type JournalCursor,
  journalStart,
  readJournal,
  trimJournal,
} from './journal/reader.ts';
export { JournalDamage } from './journal/records.ts';
export { type Restoring, restoreStore } from './journal/restore.ts';
export type { Snapshot } from './journal/snapshot.ts';
export type { JournalPosition } from './journal/writer.ts';
export type { PartitionUsage } from './partition-usage.ts';
export { freeBytes } from './storage/disk.ts';
export { StoreError } from './storage/file.ts';
export type { AttributeValue, Item } from './values/attribute-value.ts';
export type { NativeItem } from './values/marshal.ts';
