export type { Client } from './client/client.ts';
export type { DocumentClient } from './client/document-client.ts';
export { createEngine, type Engine, type EngineOptions } from './engine.ts';
export { type CancellationReason, DynamoError } from './errors.ts';
export type { PartitionUsage } from './heat.ts';
export { createHttpServer, type HttpServer, type HttpServerOptions } from './http/server.ts';
export { StoreError } from './storage/file.ts';
export type { AttributeValue, Item } from './values/attribute-value.ts';
export type { NativeItem } from './values/marshal.ts';
