export { createCheckpointer } from './checkpointer.ts';
export { createGraphStore, type GraphStoreOptions } from './graph-store.ts';
export { langgraphTable } from './table.ts';
