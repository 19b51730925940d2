// The limits of a consumer, each with its reason.

export const batchRecords = 100; // the most that a crash repeats; a page of small records still costs one read
export const readRecordsMost = 1000; // DynamoDB's own limit of GetRecords
export const batchRecordsMost = 10_000; // from several reads, for handlers that write few large files
export const batchBytes = 8 * 1024 * 1024; // of such a batch, in memory a few times over
export const pageBytes = 192 * 1024; // from here on, a page may have ended for its size: at a megabyte, before a record of up to 800 KB
export const concurrency = 8; // items of one shard handled at a time; the records of one item are handled one by one
export const concurrencyMost = 100; // a page hardly has more items

export const readInBatch = 100; // records of a large page: a few milliseconds, then the event loop runs other work

export const attempts = 5; // with the delays below, about three seconds before a record becomes a dead letter
export const backoffFirstMs = 200; // a short failure costs little
export const backoffMostMs = 30_000; // a dependency that recovers is noticed within half a minute
export const unavailableMostMs = 5_000; // a store that throttles or is unavailable is retried more often

export const connectMs = 1_000; // towards DynamoDB Streams
export const streamAnswerMs = 10_000; // a page of a megabyte, and the SDK's retries

export const leaseMs = 3_900; // how long a shard waits after its consumer was killed; up to five and a half seconds on a slow store
export const leaseOfKnownMs = 180_000; // if the death of an owner is reported: fewer renewals, on a quiet laptop
export const memberOfKnownMs = 15 * 60_000; // the same for the report that a process runs the consumer
export const lookMs = 1_500; // how often a consumer looks for work that others gave back
export const lookLeastMs = 50; // between two looks: leases of a dead process end within a moment of each other
export const movingMs = 3_000; // after a node came or went: two looks of the slowest process
export const lookWhileMovingMs = 300; // a shard that was given back waits this long
export const lookOfManyMs = (members: number): number => members ** 2 / 16; // each reads all members: together a third of what a partition gives
export const lookOfKnownMs = 15_000; // the same if the death of an owner is reported, once the consumer has its share
/** How often a consumer reads who else runs it, among so many members, where the death of one is reported. */
export const memberLookMs = (members: number): number => Math.max(lookOfKnownMs, lookOfManyMs(members));
export const settlingMs = 30_000; // after a start, while other processes give back a share of theirs
export const renewalsPerLease = 3; // two renewals may fail before the lease does
export const absentLooks = 10; // failed looks in a row, after which a process is not given a share of the work
export const discoverMs = 60_000; // new shards are learnt from the end of their parents; this finds new streams

export const pollFirstMs = 250; // DynamoDB allows five reads a second and shard, shared with other readers
export const pollMostMs = 2000; // a quiet shard is read at least this often
export const pollOfFollowerMs = 600; // a user is watching, and should see a change within a second
export const pollGrowth = 1.5;
export const idleMs = 5 * 60_000; // an iterator expires after 15 minutes; one that waits longer than this is renewed

export const windowRecords = 2000; // records of a shard kept for slower consumers: two of DynamoDB's pages
export const windowBytes = 4 * 1024 * 1024; // the same in bytes: a page has a megabyte at most
export const recordBytes = 1024; // assumed for a record whose size the store does not give

export const iteratorAttempts = 3; // an iterator that expires immediately three times is a fault, not a delay
export const listingPages = 1000; // DescribeStream returns 100 shards a page; this ends a listing that repeats itself

export const clockSkewMs = 60_000; // machines with a time service differ by far less

export const listedMs = 26 * 60 * 60_000; // a closed shard is listed for a day; after this it is read with every look for nothing
export const listingSharedMs = 30_000; // consumers of one process look for new streams together
export const endSharedMs = 1_000; // and for the children of a shard that they finish one after the other
export const finishedShardMs = 7 * 24 * 60 * 60_000; // DynamoDB lists a closed shard for a day; this is longer
export const markerMs = 14 * 24 * 60 * 60_000; // a repeated record is recognised for as long as it may be redriven
export const letterBytes = 3 * 1024 * 1024; // all parts of a letter together; a transaction takes 4 MB
export const letterPartBytes = 300 * 1024; // an item holds 400 KB; a record with two images may have twice that
export const errorText = 2000; // characters of an error kept with a dead letter
export const lettersFreshMs = 30_000; // how often the letters of all consumers are looked for, with one read each
export const peekRecords = 1000; // how far `readStatus` looks ahead of a checkpoint
export const lambdaReserveMs = 1000; // no record is started when a Lambda function has less time than this left
