// The limits of webhooks, each with its reason.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

export const bodyBytes = 256 * 1024; // Ferryhook's limit; a plan may allow less, never more
export const bodyPartBytes = 128 * 1024; // two parts hold the largest body, each far below DynamoDB's 400 KB
export const headerPairs = 100; // no webhook has more; Node itself stops at 2,000
export const headerNames = 1000; // of which it is known whether destinations get them: senders use a few dozen
export const headerNameChars = 100; // of such a name
export const headersBytes = 16 * 1024; // Node's own limit, so that a stored event fits one item
export const queryChars = 4096; // several times what signatures and verify tokens need
export const dedupeIdChars = 256; // GitHub's and Stripe's ids have about 40; a longer one is hashed
export const dedupeS = 3 * 24 * 60 * 60; // Stripe, the most patient provider, tries again for three days

export const nameChars = 100;
export const urlChars = 2048; // accepted by every proxy and server
export const secretChars = 512;
export const rotationMs = 24 * hour; // how long a replaced secret stays valid, for receivers that deploy daily
export const sourcesPerUser = 200; // a list that people can still read
export const connectionsPerSource = 40; // an event with all its deliveries must fit one transaction of 100 steps
export const retiredS = 100 * 24 * 60 * 60; // a deleted source stays as long as its events: 90 days, and some more

export const eventShards = 4; // the largest plan's 167 events a second are 700 write units, so a quarter is well within one partition
export const dueShards = 8; // 2,000 to 4,000 events a second before a partition is hot: each takes two to four write units; a setting adds more
export const countPartitions = 8; // of an account: 200 sources counted each second take 1,200 write units
export const counterShards = 4; // so that processes rarely write to the same item in the same second

export const sourceCacheMs = 1 * second; // how long another process may use an old source or connection
export const clockSkewMs = 1 * second; // how far clocks of processes may differ
export const storeMs = 15 * second; // one call of the store at most: it gives up after about ten seconds
// An event is stored on a view of its source and connections that is no older than this; an older one is read again.
export const viewMs = 15 * second;
export const viewReads = 3; // then the store is too slow, and the sender gets a 503
export const unwrittenMostMs = 5 * minute; // after this an event is not written any more: a virtual machine that is moved is suspended for less
// Until everything is written that was begun on a view from before a change, also by a slow process on a slow store. The
// time in which the change itself is written is added, and that in which a backlog is scheduled before a delivery is put
// into it; the rest of it is for indexes that lag and for clocks that differ.
export const settledMs = viewMs + unwrittenMostMs + 3 * storeMs;
export const catchUpMs = [3 * second, 15 * second]; // after a change of a connection, and once more when it has settled
export const newSourceMs = 60 * second; // how late the index may be
export const newSourceWaitsMs = [50, 100, 200, 400];
export const sourceCacheEntries = 10_000; // about 50 MB of sources with their connections
export const sourceCacheChars = 32_000_000; // of their rules; one source with 40 scripts may have six million
export const planMs = 5 * second; // a new plan takes effect within seconds; usage is added up in memory meanwhile
export const noticePercents = [80, 100] as const; // percent of a plan's events at which the account gets a notice
export const requestsPerSource = 300_000; // a minute, valid or not: more than a core can handle, so plans come first
export const rateWindowMs = minute; // plans count events a minute

// Deliveries that wait for nothing but this process. From `delayed` on, requests have to wait: a tenth of a second of
// work, enough to keep an embedded store busy with large commits, and a remote one with as many writes as it takes at a
// time. Up to `most` if that took too long: less than a second of work.
export const owed = { embedded: { delayed: 64, most: 512 }, remote: { delayed: 1024, most: 4096 } };
export const loadWaitMs = 1 * second; // providers give up after three seconds or more, and this is only a part of it
export const loadWaitMostMs = 2 * second; // for one that may be accepted, while others are
export const loadRetryS = 2; // until a refused sender may try again: twice what it has waited
export const loadWaiting = 2048; // requests: at a thousand a second, none of them would wait longer than allowed
export const loadWaitingBytes = 64 * 1024 * 1024; // of their bodies
export const loadBatch = 16; // requests in one iteration of the event loop: answers of destinations come in between
export const loadCheckMs = 50; // while requests wait: until destinations that fell silent are noticed
export const jobYieldMs = 1 * second; // how long a batch of a job waits for requests; then it goes on, so that it ends some day

export const attempts = 8; // Ferryhook's promise to its customers: eight attempts over two days
export const retryDelaysMs = [
  0,
  30 * second,
  2 * minute,
  15 * minute,
  1 * hour,
  4 * hour,
  12 * hour,
  24 * hour,
]; // Ferryhook's schedule
export const retryJitter = 0.2; // spreads retries that would be due together over a fifth of their delay
export const retryDelayMostMs = 24 * hour; // in a connection's own schedule
export const retryAfterMostMs = 1 * hour; // a destination may ask for a delay, but not of a year

export const timeoutMs = 10 * second; // of one request to a destination
export const leaseMs = 45 * second; // for the transform, the request and the write of its result, with time to spare
export const leaseSpareMs = 20 * second; // what must be left of a lease before a request starts
export const unwrittenMs = 1 * second; // until a delivery whose event is still being written is looked at again, at first
export const busyMs = 2 * second; // until a connection whose scripts were too many is tried again
export const attemptSpareS = 12 * 60 * 60; // a delivery is kept this long after its next attempt is due: workers may be down for a night
export const heldS = 7 * 24 * 60 * 60; // for deliveries held for their connection: time to notice and repair it
export const responseChars = 1000; // stored with an attempt: enough to see the error
export const errorChars = 500;
export const drainMs = 8 * second; // container runtimes kill after ten

export const quickSlots = 512; // requests that are expected to be short
export const newSlots = 384; // of these, for connections that were not tried yet: the known ones keep the rest
export const newSlotsKept = 64; // of these, which the known ones leave free: one in eight
export const slowSlots = 1024; // requests to destinations known to be slow; a socket and a body each
export const slowMs = 500; // a request that takes longer is counted as slow
export const concurrency = 16; // of one connection, by default
export const concurrencyMost = 100;
// Deliveries that are claimed, and as many whose results are written, at a time. Requests that come in share the thread
// with an embedded store and wait for all of them; a store elsewhere is waited for, and needs many at a time.
export const storedAtOnce = { embedded: 16, remote: 256 };
export const unwrittenMost = 256; // results whose requests have given back their slots: a crash repeats these requests
export const lateMs = 5; // an answer that waited less for this thread was not late, even if it came at once
export const silentMs = 50; // a connection whose slots are taken for this long without an answer waits for its destination
export const readyPerConnection = 1000; // deliveries of one connection waiting in memory; the rest waits in its backlog
export const readyMost = 20_000; // of all connections: references of about 200 bytes
export const readyReserved = 10; // of one connection beyond that, up to as many again: twenty slow ones fill the rest
// New deliveries that wait with their requests until there is a slot; the rest is written as due, and read again.
export const leasedBytesPerConnection = 16 * 1024 * 1024;
export const leasedBytesMost = 48 * 1024 * 1024; // of all connections
export const leasedOverheadBytes = 1024; // of one, besides body, headers and query
export const leasedWaitMs = 10 * second; // to be expected; well within a lease
export const latencyWeight = 0.3; // of the latest request in the running average
export const trackedConnections = 20_000; // whose latency is known; the least recently used is new again

export const scanMs = 1 * second; // how often the queue is read without a wake-up
export const scanItems = 200; // of one shard at a time, so that no shard delays the others
export const rescanMs = 250; // while more is due than was read, and little of it waits in memory
export const overdueMs = 30 * second; // then what does not fit into memory goes to its connection's backlog
export const takeoverPages = 50; // of one shard, after a process has died: the rest becomes due when its leases end
export const scanPages = 3; // of one shard in one scan, if the first ones hold nothing that can be started

export const orderItems = 10; // the first entries of an order
export const orderWaitMs = 15 * minute; // until a delivery checks by itself whether it is first

export const breakerFailures = 10; // in a row, in one process
export const breakerFirstMs = 1 * minute; // until the first probe
export const breakerMostMs = 15 * minute; // a destination that recovers is noticed within this time
export const backlogIdleMs = 15 * second; // an empty backlog is read again and again until it has settled
export const backlogScheduledMs = 5 * second; // how long a process assumes that a backlog is scheduled
export const backlogBatch = 100; // released at a time
export const backlogPauseMs = 1 * second; // between batches for a slow connection
export const backlogStepMs = 20; // between batches for one that keeps up

export const ratePerSecondMost = 1000;
export const rateAttempts = 10; // to take one, while other processes take theirs
export const rateBusyMs = 100; // until the connection is tried again, less a random part
export const backgroundRuns = { backlog: 32, job: 16, catchUp: 16 }; // at a time; a job may take hours

export const flushMs = 1 * second; // how much of the attempt counts a crash may lose; how far event counts are behind
export const flushIdleMs = 5 * minute; // until the first count; only a timer
export const countedRecords = 1000; // of the stream at a time: DynamoDB's own limit
export const countsTogether = 80; // counters in one transaction, which has at most 100 steps
export const countCheckpointS = 7 * 24 * 60 * 60; // a stream shard is gone after a day
export const counterDaysS = 400 * 24 * 60 * 60; // a year of days, for comparison
export const analyticsDays = 92; // a quarter: a longer table is hard to read
export const topSources = 10;

export const listItems = 100; // one page
export const searchEvents = 500; // events that one search reads before it returns what it has
export const searchBytes = 8 * 1024 * 1024; // of bodies that one search reads, for the same reason
export const searchChars = 200;
export const listedSources = 25; // whose events one list merges: four shards each are read for a page
export const eventTypeChars = 100; // names of types are short; what is longer is a text
export const eventTypeBodyBytes = 64 * 1024; // parsed for the type while the sender waits: well below a millisecond
export const whatIfEvents = 100; // of a page that compares rules: two reads and two runs each
export const whatIfMs = 2 * second; // until such a page ends, so that it never holds a request for long
export const whatIfBytes = 1024 * 1024; // of bodies in such a page
export const whatIfBodyBytes = 64 * 1024; // of one in it: people compare what they can read
export const replayEvents = 100; // by id in one request
export const jobBatch = 25; // events between two checkpoints of a job
export const jobS = 30 * 24 * 60 * 60; // a finished job is listed for a month
export const catchUpS = 24 * 60 * 60; // of a finished one, which no page shows
export const jobsListed = 100; // the newest
export const jobsPerUser = 10; // running at a time
export const creationS = 60 * 60; // longer than any creation takes
export const jobSliceMs = 5 * second; // then a job leaves its slot to the next one and is due again
export const jobAttempts = 20; // a job that cannot continue fails instead of being retried forever
export const jobPauseMs = 10 * second; // until a job is continued that found the store unavailable

export const tailItems = 200; // of one shard at a time; a live view that is further behind catches up in pages
export const tailPollMs = 2 * second; // how late an event of another process may appear in a live view
export const tailOverlapMs = 5 * second; // how long after its timestamp a write may become visible

export const alertS = 30 * 24 * 60 * 60;
export const alertTimeoutMs = 5 * second; // for the POST of an alert: other alerts wait for it
export const alertAttempts = 3; // to POST an alert; its owner has it in the inbox as well
export const alertsTogether = 100; // in flight: an address that hangs must not delay the alerts of others
export const eraseEvents = 100; // in one call, each with its deliveries, attempts and payload
export const eraseGraceMs = 5 * second; // longer than another process may use a deleted source
export const storedLateMs = eraseGraceMs - 2 * clockSkewMs; // after this an event may be stored when its source is erased

export const eventBytes = 1500; // of an event with its headers, besides the body: for the check of the account's storage
export const deliveryBytes = 1000; // of a delivery and its first attempts
export const secretsOpened = 1000; // cached, for as many busy connections

export const followedListed = 50; // of what one thing caused: more is a list, not an answer
