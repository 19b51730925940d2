// Everything in the inbox that grows, waits or repeats, and why it stops where it stops.

export const dayS = 24 * 60 * 60;
export const messageTtlS = 730 * dayS; // the document's maximum for a message
export const tenantTtlS = 720 * dayS; // the document's maximum for a tenant's setting
export const defaultTtlS = 30 * dayS; // where nobody says anything
export const scheduleAheadS = 365 * dayS; // a message for later than next year is a mistake

export const keyChars = 63; // of tenants and inboxes
export const uidChars = 128; // the host's own ids: a UUID, an e-mail address, an `auth0|…`
export const hostIdChars = 200; // percent-encoded it still fits a sort key
export const idChars = 32; // the kit's ids have 24
export const durationChars = 10; // nine digits and a unit
export const schemeChars = 32; // of links
export const categoryChars = 64;
export const labelChars = 200;
export const titleChars = 500;
export const descriptionChars = 2000;
export const uriChars = 2048; // what browsers and mail programs take
export const ctaSchemes = 20; // of links that an inbox allows besides the usual ones: its own apps'
export const messageBytes = 256 * 1024; // a copy with its keys stays below an item's 400 KB

export const ownBodyBytes = 1024; // a body up to this is in every copy: a page of them stays one query
export const savedBytes = 64 * 1024; // what one body for all recipients has to save: it costs each reader a read
export const pageBodyBytes = 4 * 1024 * 1024; // of bodies read for one page; beyond, the page is shorter
export const cachedBodies = 500; // bodies of several users' messages in memory: 8 MB of those that are kept

export const categories = 40; // of an inbox; each may be a step of a transaction, which has 100
export const categoriesErased = 5; // being deleted at a time: they are steps as well, and every reader looks at each
export const inboxes = 100; // of a tenant: erasing a user visits each

export const recipients = 10_000; // of one call: 1.3 MB of the longest ids
export const recipientsTogether = 18; // delivered in one transaction: five steps each, of 100
export const transactionBytes = 3_000_000; // of DynamoDB's 4 MB; a user's state takes a few KB besides
export const audiencePart = 1000; // uids in one item: 128 KB of the longest ids
export const publishBytes = 2 * 1024 * 1024; // the largest message and 10,000 uids
export const bulkMessages = 100; // of one call; each is a transaction of its own
export const bulkRecipients = 1000; // of one call, all messages together: it is answered when all are delivered

export const liveBroadcasts = 1000; // of an inbox: a user's set of those read has to fit an item, and be counted
export const pendingRedactions = 20; // under way in an inbox: every reader looks for each of them
export const cachedInboxes = 1000; // whose list of broadcasts is in memory, about 100 bytes a broadcast
export const cachedTexts = 2000; // messages to everyone whose text is in memory
export const cachedTextChars = 16 * 1024; // of one such text: all of them stay below 64 MB

export const schemaBytes = 16 * 1024; // read with every message
export const schemaParts = 500; // schemas within schemas, and values they list
export const schemaDepth = 16; // checking recurses

export const pageMessages = 100;
export const exportRate = { limit: 10, windowMs: 60_000 }; // an export reads every member's state
export const feedRows = 2000; // read for one page before a short one is answered: filters may refuse them all
export const feedQuery = 500; // of them in one query
export const pageChars = 64 * 1024; // a page that is kept: one of thirty messages has 20,000
export const pagesKept = 500; // of users who look again and again: about 10 MB, 32 at worst
export const countsKept = 10_000; // users' counts: some hundred bytes each
export const marksPerCall = 100;
export const marksTogether = 18; // marked in one transaction: two steps each and one a category, of 100
export const markedRanges = 16; // "all read" marks a state holds before the oldest is written to its messages
export const snoozed = 50; // messages of one user: they are kept in the state
export const expiredTogether = 50; // taken out of the counts in one transaction: a step each, and one a category
export const wokenTogether = 25; // snoozed messages that come back in one transaction: two steps each
export const changeAttempts = 40; // lost races before a caller hears "busy"; each one means somebody else won
export const raceMs = 4; // the first wait after several lost races

export const quietMs = 30_000; // after the last item of a deleted inbox: longer than any request that was under way
export const erasureKeptS = 7 * dayS; // how long a deleted inbox can be asked whether it is gone
export const sendsTogether = 100; // looked at between two notes of a job that goes through all of them
export const sendsLookedAt = 20_000; // for the categories that are in use; more would be too long for a request

export const dueShards = 4; // partitions of the due index; each takes a thousand writes a second
export const leaseMs = 30_000; // how long a send rests after its worker was killed, where nobody can tell
export const pollMs = 5_000; // between two looks while nothing is due
export const pollLeastMs = 250; // and while something is that somebody else has, by an index that is behind
export const dueSends = 50; // taken from a shard at a time

export const recheckMs = 10_000; // an event stream looks by itself, in case another process got the change
export const resumedMessages = 100; // sent again to a client that comes back; beyond, it reads the list
export const withdrawnIds = 10; // of the last redactions, for clients that come back; beyond, they read the list
export const erasedTogether = 200; // items removed by one call of the eraser
export const idempotencyS = 2 * dayS; // longer than the HTTP layer keeps the answer to a key
