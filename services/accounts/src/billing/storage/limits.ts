// Limits of counting storage, with the reason for each.

export const flushMs = 1000; // one transaction for the changes of a second: how far a count is behind, against its cost
export const pageRecords = 1000; // DynamoDB's own limit of GetRecords
export const countsTogether = 90; // in one transaction, of 100 steps
export const slots = 8; // shards of one table that write different counts

export const markS = 7 * 86_400; // DynamoDB keeps a shard for a day
export const writtenS = 3 * 86_400; // only the present day is compared with a limit
export const ownerS = 200 * 86_400; // longer than any plan keeps an event of a deleted source
export const ownersKept = 20_000; // owners whose account is cached, about 150 bytes each
export const ownerMs = 86_400_000; // how long one is cached; then its item is written again, before it expires
export const accountMs = 5_000; // how long an account is assumed to exist

export const heldMs = 500; // how often a reader checks whether the recount is over
export const leaseMs = 30_000; // how long a table waits for a counting process whose crash was not detected
export const pollMs = 10_000; // how soon a requested recount begins
export const tablesAtOnce = 6; // all of them: a filter of a megabyte each, and the pages below
export const settleMs = 3_000; // how far DynamoDB's stream may be behind what a scan sees
export const scanPages = 8; // of a megabyte, between two reads of the stream
export const itemsPerBatch = 200; // of a scan: about a millisecond, then requests are served
export const filterBits = 2 ** 23; // a megabyte
export const filterKeys = 290_000; // with which a megabyte errs once in a million
export const filterHashes = 20;

export const readMs = 2_000; // how old the count may be for admitting a request
export const statesMs = 1_000; // how old the tables' states may be for that
export const rereadMs = 250; // how old the count may be for refusing one
export const pendingMs = 10_000; // how long admitted bytes are added to the count: longer than it is behind
export const pendingStepMs = 500; // bytes admitted within it are one entry of a list
export const accountsKept = 10_000; // whose count is cached
export const noticeShares = [80, 100] as const; // percent of the plan at which the account is notified
export const writtenPerDay = 5; // times what the plan keeps: a day's change log and journal stay in proportion to it
export const fullRetryS = 60; // after a refusal: somebody has to make room first
export const lineBytes = 500; // of a line in the audit trail, which is kept for a year
export const linesWhenFull = 10_000; // a day and process, for an account without room: 5 MB, and more than people cause
export const answerBytes = 4096; // a smaller stored answer is not charged: that would cost more than it takes
