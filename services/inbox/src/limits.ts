// The limits of the inbox, and the reason for each.

export const dayS = 24 * 60 * 60;
export const messageTtlS = 730 * dayS; // the design's maximum for a message
export const tenantTtlS = 720 * dayS; // the design's maximum for a tenant
export const defaultTtlS = 30 * dayS; // if neither message, inbox nor tenant sets one
export const scheduleAheadS = 365 * dayS; // anything later is a mistake

export const keyChars = 63; // of tenants and inboxes
export const uidChars = 128; // the host's own ids: a UUID, an e-mail address, an `auth0|…`
export const hostIdChars = 200; // fits a sort key when percent-encoded
export const idChars = 32; // the kit's ids have 24
export const durationChars = 10; // nine digits and a unit
export const schemeChars = 32; // of links
export const categoryChars = 64;
export const labelChars = 200;
export const titleChars = 500;
export const descriptionChars = 2000;
export const uriChars = 2048; // what browsers and mail programs accept
export const ctaSchemes = 20; // link schemes of an inbox's own apps
export const fieldNameBytes = 65_535; // in the body of a message: what DynamoDB takes
export const messageBytes = 256 * 1024; // a copy with its keys stays below an item's 400 KB

export const ownBodyBytes = 1024; // a body up to this size is in every copy, so a page of them takes one query
export const copyBytes = 1500; // of a message's copy, if its body is stored once for all
export const savedBytes = 64 * 1024; // what sharing a body has to save, because it costs each reader a read
export const pageBodyBytes = 4 * 1024 * 1024; // of bodies on one page; the page ends there
export const cachedBodies = 500; // shared bodies in memory: 8 MB at most

export const categories = 40; // of an inbox; each may be a step of a transaction, which has 100
export const categoriesErased = 5; // being deleted at a time: each is a step too, and every reader checks each
export const inboxes = 100; // of a tenant: erasing a user goes through all of them

export const recipients = 10_000; // of one request: 1.3 MB of the longest uids
export const recipientsTogether = 18; // delivered in one transaction: five steps each, of 100
export const transactionBytes = 3_000_000; // of DynamoDB's 4 MB; a user's state takes a few KB besides
export const audiencePart = 1000; // uids in one item: 128 KB of the longest
export const publishBytes = 2 * 1024 * 1024; // the largest message and 10,000 uids
export const bulkMessages = 100; // of one request; each is a transaction of its own
export const bulkRecipients = 1000; // of one request, for all messages: it returns when all are delivered

export const rememberedStates = 5000; // of users who got a message last: about a kilobyte each
export const rememberedNumbers = 200; // of broadcasts in one of them: two kilobytes
export const statesReadFirst = 64; // after a refused write on a remembered state: the units of one are those of as many reads
export const statesReadMost = 16_384; // and after many in a row: then one write in as many is in vain
export const confirmedStates = 256; // remembered states in a row that were right, before fewer are read

export const liveBroadcasts = 1000; // of an inbox: the set that a user has read must fit into an item
export const pendingRedactions = 20; // in progress in an inbox: every reader looks for each of them
export const cachedInboxes = 1000; // inboxes whose broadcasts are in memory, about 100 bytes each
export const cachedTexts = 2000; // texts of messages to everyone in memory
export const cachedTextChars = 16 * 1024; // of one text in memory: all of them stay below 64 MB

export const schemaBytes = 16 * 1024; // read with every message
export const schemaParts = 500; // nested schemas, and the values they list
export const schemaDepth = 16; // checking recurses

export const pageMessages = 100;
export const exportRate = { limit: 10, windowMs: 60_000 }; // an export reads every member's state
export const feedRows = 2000; // read for one page before it is returned short: a filter may match none
export const feedQuery = 500; // of them in one query
export const pageChars = 64 * 1024; // of a cached page: one of thirty messages has 20,000
export const pagesKept = 500; // cached pages: about 10 MB, 32 at worst
export const countsKept = 10_000; // cached counts: a few hundred bytes each
export const marksPerCall = 100;
export const marksTogether = 18; // marked in one transaction: two steps each and one a category, of 100
export const markedRanges = 16; // ranges in a state before the oldest is written to its messages
export const rangeWrites = 16; // messages that a range is written to at a time
export const snoozed = 50; // of one user: they are stored in the state
export const expiredTogether = 50; // taken out of the counts in one transaction: a step each, and one a category
export const wokenTogether = 25; // snoozed messages that return in one transaction: two steps each
export const changeAttempts = 40; // conflicts before a caller gets "busy"; each means that another write succeeded
export const changesAtOnce = 3; // of them without a wait: most conflicts are with one other write
export const conflictFirstMs = 4;
export const conflictMostMs = 64;

export const readsTogether = 90; // sends whose readers one event changes, in one transaction
export const countedSteps = 95; // of a transaction that counts readers, which has 100 at most

export const quietMs = 30_000; // after the last item of a deleted inbox: longer than any request
export const erasureKeptS = 7 * dayS; // how long the progress of a deletion can be read
export const sendsTogether = 100; // read between two progress records of a category's deletion
export const sendsLookedAt = 20_000; // read to find the categories in use; more would take too long

export const sendBuckets = 16; // partitions of what an inbox sent: two write units a message, so 8,000 a second
export const sendsListed = 2000; // read for one page before it is returned short: a filter may match none
export const dueShards = 4; // partitions of the due index; each takes a thousand writes a second
export const leaseMs = 30_000; // how long a send waits after its worker was killed, where that cannot be noticed
export const pollMs = 5_000; // between two looks when nothing is due
export const pollLeastMs = 250; // and when a late index shows work that another process has
export const dueSends = 50; // taken from a shard at a time

export const recheckMs = 10_000; // how often an event stream looks without a notification
export const resumedMessages = 100; // sent to a client that reconnects; if there are more, it gets `reset`
export const withdrawnIds = 10; // of the last redactions, for clients that reconnect; if there were more, they get `reset`
export const erasedTogether = 200; // items removed by one call of the eraser

export const correctionsTogether = 8; // mailboxes whose counts are corrected at a time, after messages have expired
