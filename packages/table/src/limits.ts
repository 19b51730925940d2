// The limits of the table layer, each with its reason.

export const partitionKeyBytes = 2048; // DynamoDB's own limit
export const sortKeyBytes = 1024; // DynamoDB's own limit

export const batchGetKeys = 100; // DynamoDB's own limit
export const batchWriteItems = 25; // DynamoDB's own limit
export const transactionSteps = 100; // DynamoDB's own limit

export const attempts = 8; // with the delays below, about two seconds before a caller gets `busy`
export const patienceMs = 6_000; // no attempt starts later: with the time of the last one, ten seconds at most
export const busyRetryS = 1; // how long a caller that gets `busy` should wait
export const connectMs = 1_000; // to DynamoDB, which takes a few milliseconds in the same region
export const sockets = 200; // concurrent requests; at ten milliseconds each, 20,000 per second
export const leasedPauseMs = 1_000; // before a write of something that was leased is repeated
export const answerMs = 4_000; // a transaction of a hundred items takes tens of milliseconds
export const controlAttempts = 3; // the SDK's own retries, for tables and streams
export const backoffFirstMs = 25; // a conflicting transaction is usually over by then
export const backoffMostMs = 1000; // throttling ends within a second or two, or not at all

export const creationTries = 100; // each failure means that another caller has created something

export const pageItems = 50; // a page without a given size
export const pageItemsMost = 1000; // one call never collects more than this
export const nearestMost = 100; // DynamoDB's own limit
export const readAhead = 1000; // items that one request may read while a filter drops most of them
export const readBudget = 10_000; // items that one call reads before it returns a short page

export const cursorBytes = 16_384; // the longest keys of an item and of an index, encrypted and in base64url
export const cursorsKept = 1000; // recently issued: usually less than a kilobyte each

export const sharedOwners = 20_000; // parts of keys whose owner is remembered, about 150 bytes each
