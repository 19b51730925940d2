// Everything a caller can make this service keep, read or wait for, and why it stops where it stops.

export const titleChars = 500; // a line, not a text
export const descriptionChars = 10_000; // a few pages; the item stays far below DynamoDB's 400 KB
export const categoryChars = 64; // percent-encoded, nine bytes a character at worst, it fits into a sort key
export const labels = 20; // more is a category system of its own; they are copied into four indexes
export const labelChars = 64;
export const nameChars = 200;
export const emailChars = 254; // RFC 5321
export const zoneChars = 64; // the longest name of the time zone database has 32
export const userIdBytes = 1000; // after `USER#` it is a sort key, which may have 1,024
export const firstDate = '1970-01-01'; // dates before it are mistakes, and time stamps would be negative
export const lastDate = '9000-12-31'; // a few days later still have four digits for the year, and sort

export const tasksPerUser = 100_000; // known exactly, from the tally; a full-text index of this size fits in memory
export const categories = 100; // they are counted in the tally, which every write rewrites: 1 KB usually, 22 at worst
export const subtasks = 30; // a task and its subtasks move to the trash in one transaction, three steps for each
export const positionChars = 200; // a thousand insertions into one and the same gap
export const neighbours = 5; // read around the place a task is moved to

export const ruleChars = 500; // an RRULE with every list there is
export const ruleYears = 12; // a 29th of February comes again within eight years; what comes later than this never does
export const countedYears = 100; // where a series by months or years with COUNT ends: all dates before are counted
export const ruleInterval = 1000; // with FREQ=DAILY about three years
export const reminderDays = 365;
export const retentionDays = 3650; // of completed tasks; whoever wants them longer wants them for ever

export const trashS = 30 * 24 * 60 * 60; // what a deleted task waits for its restoration
export const changeS = 30 * 24 * 60 * 60; // what a client may be away before it has to read everything again
export const idempotencyS = 24 * 60 * 60; // the document's own: a client that retries after a day has to look first

export const transactionSteps = 96; // of DynamoDB's 100, less the tally, the change and what an operation adds
export const commitAttempts = 20; // each one that fails means that another write of the user went through
export const commitFirstMs = 5; // the other write is usually over by then
export const commitMostMs = 250;

export const listItemsMost = 100; // a page of summaries stays far below DynamoDB's megabyte
export const listBudget = 2000; // items a page reads past before it is answered short, with a cursor
export const orderChunk = 100; // tasks read at a time behind a filter of a list in the user's own order
export const countBudget = 10_000; // overdue tasks counted; nobody needs to know how many more there are
export const countPage = 1000; // the table layer's largest page
export const bulkItems = 100;
export const clearItems = 60; // completed tasks deleted by one request: two or three transactions
export const filterChars = 1000;
export const filterTerms = 20; // each becomes a part of DynamoDB's filter, which has at most 300 operators
export const filterValues = 50; // each may become a query of its own, or one of the 100 values of DynamoDB's IN
export const changeEntries = 50; // read for one page of changes; each names as many tasks as one transaction wrote

export const queryChars = 200; // of a search
export const searchResults = 500; // ranked; nobody pages further
export const searchSwaps = 16; // pairs of letters of one word that may stand in the wrong order
export const searchTerms = 12; // words beyond are not looked for
export const searchDescriptionChars = 2000; // of each description that are indexed
export const searchIndexChars = 4096; // what an index of nothing weighs
export const searchUserChars = 32_000_000; // indexed for one user; beyond it, titles only
export const searchChunk = 200; // tasks indexed before others get a turn
export const searchChars = 64_000_000; // indexed at a time for all users: some 500 MB; the least recently used go

export const reminderShards = 4; // each is asked by every worker; DynamoDB takes 1,000 writes a second for each
export const reminderLeaseMs = 60_000; // longer than the port may take; a reminder of a crashed worker waits this long where nobody can tell
export const reminderPortMs = 30_000; // half a lease, so that a result is never written after it
export const reminderAttempts = 10; // with the delays below, about four hours
export const reminderRetryFirstMs = 10_000;
export const reminderRetryMostMs = 60 * 60_000;
export const failureChars = 500; // of an error kept with a reminder
export const reminderBatch = 25; // claimed from one shard in one round
export const reminderPollMs = 5_000; // new reminders of other processes are noticed this late

export const eventPollMs = 5_000; // an event stream looks by itself this often, if no stream consumer runs here
export const feedEvents = 1000; // of a calendar: what one query answers, and more than a screen shows
export const feedPastDays = 90;
export const exportRate = { limit: 10, windowMs: 60_000 }; // each reads everything its user has
export const feedRate = { limit: 60, windowMs: 60_000 }; // calendars ask a few times an hour
export const expiryBatch = 30; // expired tasks folded into the tally by one transaction
export const restampTasks = 30; // three steps for each: the task, its reminder, its expiry
export const eraseItems = 200; // removed by one call of the eraser
