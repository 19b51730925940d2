// The limits of tasks, and the reason for each.

export const titleChars = 500; // one line of text
export const descriptionChars = 10_000; // a few pages; the item stays far below DynamoDB's 400 KB
export const categoryChars = 64; // fits a sort key when percent-encoded, at nine bytes a character
export const labels = 20; // they are copied into four indexes
export const labelChars = 64;
export const nameChars = 200;
export const emailChars = 254; // RFC 5321
export const zoneChars = 64; // the longest name of the time zone database has 32
export const userIdBytes = 1000; // after `USER#` it is a sort key, which may have 1,024
export const firstDate = '1970-01-01'; // earlier dates are mistakes, and their timestamps would be negative
export const lastDate = '9000-12-31'; // dates a few days later still sort, with four digits for the year

export const tasksPerUser = 100_000; // counted exactly, by the tally; a full-text index of so many short ones fits in memory
export const categories = 100; // they are counted in the tally, which every write rewrites: usually 1 KB, 22 at worst
export const subtasks = 30; // a task and its subtasks move to the trash in one transaction, three steps for each
export const positionChars = 200; // a thousand moves into the same gap
export const neighbours = 5; // read around the new position of a task
export const positionBudget = 3000; // expired tasks that are passed over to find a neighbour: thirty requests
export const indexLateS = 10; // how late an index may be; DynamoDB's are late by milliseconds, and by seconds after a failure
export const recentChanges = 100; // of so many seconds, more than a person makes
export const recentTasks = 200; // of those changes, whose positions an index may lack

export const ruleChars = 500; // an RRULE with every possible list
export const ruleYears = 12; // for each one of its interval: February 29th returns within eight years; a rule without a date in this time has none
export const countedYears = 100; // the end of a monthly or yearly series with COUNT: counting takes all dates before
export const ruleInterval = 1000; // with FREQ=DAILY about three years
export const reminderDays = 365;
export const retentionDays = 3650; // of completed tasks; ten years are as good as forever

export const trashS = 30 * 24 * 60 * 60; // how long a deleted task can be restored
export const changeS = 30 * 24 * 60 * 60; // how long a client may be away before it has to read all tasks again
export const idempotencyS = 24 * 60 * 60; // the design's value; a client that retries after a day has to look first
export const bulkProgressS = 2 * idempotencyS; // longer than the HTTP layer remembers an unfinished request

export const transactionSteps = 96; // DynamoDB's 100, minus the tally, the change and what an operation adds
export const commitAttempts = 20; // each conflict means that another write of the user succeeded
export const commitFirstMs = 5; // the other write is usually done by then
export const commitMostMs = 250;

export const listItemsMost = 100; // a page of summaries stays far below DynamoDB's megabyte
export const listBudget = 2000; // items read for a page before it is returned short, with a cursor
export const orderChunk = 100; // tasks read at a time for a filtered list in the user's own order
export const countBudget = 10_000; // overdue tasks that are counted; more make no difference
export const countPage = 1000; // the table layer's largest page
export const bulkItems = 100;
export const clearItems = 60; // completed tasks deleted by one request: two or three transactions
export const filterChars = 1000;
export const filterTerms = 20; // each becomes a part of DynamoDB's filter, which has at most 300 operators
export const filterValues = 50; // each may become a query of its own, or one of the 100 values of DynamoDB's IN
export const changeEntries = 50; // read for one page of changes; each names the tasks of one transaction

export const queryChars = 200; // of a search
export const searchResults = 500; // ranked results; more are never paged through
export const searchSwaps = 16; // pairs of letters in a word that are tried in the other order
export const searchTerms = 12; // further words are ignored
export const searchOccurrencesTogether = 5_000; // occurrences of words looked up before the event loop runs other work: ten milliseconds
export const searchOccurrences = 200_000; // for one query: half a second of work; words that fit less are not looked up
export const searchDescriptionChars = 2000; // of a description that are indexed
export const searchChunk = 200; // tasks indexed before the event loop runs other work
export const searchChunkChars = 20_000; // the same, of their texts
export const searchBytes = 256_000_000; // of all indexes in a process; the account with the most gives way
export const searchHeapShare = 1 / 16; // the same where the heap is below 4 GB
export const searchAccountShare = 0.8; // of that, for one account: 100,000 tasks of a few lines; more are read for each search
export const searchScanBytes = 32_000_000; // of words held by a search that reads all tasks: some 40,000 that fit
export const searchChunkBytes = 2_000_000; // indexed at a time by such a search: ten milliseconds
export const searchReaders = 2; // searches that read all tasks at the same time; each may take as much as an account
export const searchRemoved = 1000; // tasks removed from an index before it may be built again
export const searchUnindexedMs = 10 * 60_000; // before an index that did not fit is tried again
export const searchUnindexedUsers = 10_000; // remembered as such

export const reminderShards = 4; // every worker queries each; DynamoDB takes 1,000 writes a second for each
export const reminderLeaseMs = 60_000; // longer than `remind` may take; a reminder of a crashed worker waits this long where the crash cannot be noticed
export const reminderPortMs = 30_000; // half a lease, so that a result is never written after it
export const reminderAttempts = 10; // with the delays below, about four hours
export const reminderRetryFirstMs = 10_000;
export const reminderRetryMostMs = 60 * 60_000;
export const failureChars = 500; // of an error stored with a reminder
export const reminderBatch = 25; // claimed from one shard in one round
export const reminderPollMs = 5_000; // how late new reminders of other processes are noticed

export const eventPollMs = 5_000; // how often an event stream looks without a notification
export const feedEvents = 1000; // of a calendar: what one query returns, and more than a screen shows
export const feedPastDays = 90;
export const feedDescriptionChars = 1_000; // as much as a calendar shows of an event
export const feedChunk = 20; // events written before the event loop runs other work: at most 20 ms
export const exportRate = { limit: 10, windowMs: 60_000 }; // an export reads all tasks of its user
export const feedRate = { limit: 60, windowMs: 60_000 }; // calendar programs poll a few times an hour
export const expiryBatch = 30; // expired tasks that one transaction takes out of the tally
export const settingsTasks = 30; // three steps for each: the task, its reminder, its expiry
export const eraseItems = 200; // removed by one call of the eraser

export const effectsTogether = 8; // users whose changes a consumer handles at a time; those of one user are in order
export const smallEditBytes = 1000; // an edit that finishes, moves or renames a task
