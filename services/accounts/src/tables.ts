// biome-ignore-all assist/source/organizeImports: the table lists its entities in the order in which they are loaded

// Every entity of the service, for those who follow its table. In the order in which index.ts loads them, so that the
// design's page is the same for both.
export * from './recovery/table.ts';
export * from './billing/table.ts';
export * from './factors/table.ts';
export * from './mail/table.ts';
export * from './organisations/table.ts';
export * from './table.ts';
