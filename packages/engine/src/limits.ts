// DynamoDB's own limits, and ours where it leaves the number open. Each line says where it comes from.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html

export const itemBytes = 400 * 1024;
export const hashKeyBytes = 2048;
export const rangeKeyBytes = 1024;
export const pageBytes = 1024 * 1024; // Query and Scan, counted before the filter
// Ours: attributes that an index leaves out are still read, and a page of keys must not read gigabytes of items.
export const pageReadBytes = 16 * 1024 * 1024;
export const nestingDepth = 32;
export const jsonNestingDepth = 63; // deeper nesting is refused before validation, with another message
export const numberDigits = 38;
export const batchGetKeys = 100;
export const batchGetBytes = 16 * 1024 * 1024;
export const batchWriteRequests = 25;
export const transactionActions = 100;
export const transactionBytes = 4 * 1024 * 1024;
export const clientTokenMs = 10 * 60_000;
export const expressionBytes = 4096;
export const expressionOperators = 300;
export const expressionNesting = 320; // above what 300 operators can nest; protects the stack from the parser
export const globalIndexes = 20;
export const localIndexes = 5;
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html#limits-vector-indexes
export const vectorIndexes = 5;
export const vectorDimensions = 4096;
export const vectorFilters = 18;
export const nearestVectors = 100;
export const searchBytes = 16 * 1024 * 1024; // of an answer, which has no second page
export const keyPartAttributes = 4; // in each part of a global index's key
export const keyAttributes = 2 * keyPartAttributes;
export const tagsPerTable = 50;
export const streamRetentionMs = 24 * 60 * 60_000;
export const streamIteratorMs = 15 * 60_000;
export const streamRecords = 1000;
export const streamBytes = 1024 * 1024;

// Records in memory, of each shard that is read. What this process has written is kept for readers that gather changes
// for a second; what one of them has read, for others that are as far.
export const recentWritten = { records: 10_000, bytes: 8 * 1024 * 1024 };
export const recentRead = { records: 500, bytes: 512 * 1024 };
export const recentShards = 64;
// Ours: each in progress reads a file and fills commits.
export const bulkOperations = 20;
export const bulkTokenMs = 8 * 60 * 60_000; // how long the API reference says that a token is remembered
export const historyBehindBytes = 256 * 1024 * 1024; // of the journal: what is not archived by then is lost to the history
