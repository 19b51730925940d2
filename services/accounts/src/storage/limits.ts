// Everything about counting storage that waits, grows or is forgotten, and why it stops where it stops.

export const flushMs = 1000; // changes of a second are one transaction: what a count is behind, and costs
export const pageRecords = 1000; // DynamoDB's own limit of GetRecords
export const countsTogether = 90; // in one transaction, of 100 steps
export const slots = 8; // shards of one table that write different counts

export const markS = 7 * 86_400; // DynamoDB keeps a shard for a day
export const ownerS = 200 * 86_400; // longer than any plan keeps an event of a deleted source
export const ownersKept = 20_000; // whose account is in memory, about 150 bytes each
export const ownerMs = 86_400_000; // how long in memory: then its item is written again, before it expires
export const accountMs = 5_000; // how long an account is believed to exist

export const heldMs = 500; // how often a reader looks whether the recount is over
export const leaseMs = 30_000; // how long a table rests after the process that counted it was killed, where nobody can tell
export const pollMs = 10_000; // how soon a recount that was asked for begins
export const settleMs = 3_000; // how late a record of DynamoDB's stream may be behind what a scan sees
export const scanPages = 8; // of a megabyte, between two looks at the stream
export const itemsPerBatch = 200; // of a scan: about a millisecond, then requests have their turn
export const filterBits = 2 ** 23; // a megabyte
export const filterKeys = 290_000; // for which a megabyte errs once in a million
export const filterHashes = 20;

export const readMs = 2_000; // how old the count may be that a request is measured by
export const statesMs = 1_000; // how old the state of the tables may be for that
export const rereadMs = 250; // how old it may be before somebody is refused
export const pendingMs = 10_000; // how long what was let in is added to the count: longer than a count is behind
export const pendingStepMs = 500; // what is let in within it is one entry of a list
export const accountsKept = 10_000; // whose count is in memory
export const noticeShares = [80, 100] as const; // percent of the plan at which the account hears of it
