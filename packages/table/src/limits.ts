// Everything in the table layer that grows or repeats, and why it stops where it stops.

export const partitionKeyBytes = 2048; // DynamoDB's own limit
export const sortKeyBytes = 1024; // DynamoDB's own limit

export const batchGetKeys = 100; // DynamoDB's own limit
export const batchWriteItems = 25; // DynamoDB's own limit
export const transactionSteps = 100; // DynamoDB's own limit

export const attempts = 8; // with the delays below, about two seconds before a caller hears "busy"
export const patienceMs = 6_000; // no attempt begins later: with the last one's own time, ten seconds at most
export const busyRetryS = 1; // what a caller who hears "busy" is asked to wait
export const connectMs = 1_000; // towards DynamoDB, in the same region a few milliseconds
export const sockets = 200; // requests under way at a time; at ten milliseconds each, 20,000 a second
export const answerMs = 4_000; // a transaction of a hundred items takes tens of milliseconds
export const controlAttempts = 3; // the SDK's own, for tables and streams
export const backoffFirstMs = 25; // a conflicting transaction is usually over by then
export const backoffMostMs = 1000; // throttling is lifted within a second or two, or not at all

export const creationTries = 100; // each that fails means that another one has created something

export const pageItems = 50; // a page nobody asked a size for
export const pageItemsMost = 1000; // one call never collects more than this
export const readAhead = 1000; // items one request may read while a filter throws most of them away
export const readBudget = 10_000; // items one call reads for a page before it answers with a short one

export const cursorBytes = 16_384; // the longest keys of an item and of an index, encrypted and in base64url
export const cursorsKept = 1000; // that were given lately: less than a kilobyte each, as a rule

export const sharedOwners = 20_000; // parts of keys whose items' owner is remembered, about 150 bytes each
