// Everything a consumer waits for, repeats or keeps, and why it stops where it stops.

export const batchRecords = 100; // what a crash repeats at most; a page of small records still costs one read
export const batchRecordsMost = 1000; // DynamoDB's own limit of GetRecords
export const concurrency = 8; // items of one shard handled at a time; records of one item never are
export const concurrencyMost = 100; // beyond this a page has hardly more items

export const readInBatch = 100; // records of a large page: a few milliseconds, then others have their turn

export const attempts = 5; // with the delays below, about three seconds before a record is set aside
export const backoffFirstMs = 200; // a blip costs little
export const backoffMostMs = 30_000; // a dependency that comes back is noticed within half a minute
export const unavailableMostMs = 5_000; // a store that throttles or is away is looked for more often

export const connectMs = 1_000; // towards DynamoDB Streams
export const streamAnswerMs = 10_000; // a page of a megabyte, and what the SDK repeats

export const leaseMs = 4_500; // how long a shard rests after its consumer was killed; with a look it is six seconds
export const leaseOfKnownMs = 180_000; // where the death of an owner is heard of: fewer renewals, on a quiet laptop
export const lookMs = 1_500; // how often a consumer looks for work that others gave back
export const lookOfKnownMs = 15_000; // the same where the death of an owner is heard of, once it has got its share
export const settlingMs = 30_000; // after its start others give back a share of theirs
export const renewalsPerLease = 3; // two renewals may fail before the lease does
export const absentLooks = 10; // that fail in a row: then a process does not count among those who share the work
export const discoverMs = 60_000; // new shards are learnt from their parents' end; this finds new streams

export const pollFirstMs = 250; // DynamoDB allows five reads a second and shard, shared with other readers
export const pollMostMs = 2000; // a quiet shard is read at least this often
export const pollOfFollowerMs = 600; // somebody looks on, and is to see a change within a second
export const pollGrowth = 1.5;
export const idleMs = 5 * 60_000; // iterators die after 15 minutes; one that waits longer than this is renewed

export const windowRecords = 2000; // of a shard, kept for consumers that are slower than others: two pages of DynamoDB's
export const windowBytes = 4 * 1024 * 1024; // the same: a page has a megabyte at most
export const recordBytes = 1024; // a record whose size the store does not tell

export const iteratorAttempts = 3; // an iterator that expires at once, three times, is a fault and not a delay
export const listingPages = 1000; // DescribeStream answers 100 shards a page: a listing that repeats itself ends

export const clockSkewMs = 60_000; // machines with a time service differ by far less

export const finishedShardMs = 7 * 24 * 60 * 60_000; // DynamoDB lists a closed shard for a day; we remember longer
export const markerMs = 14 * 24 * 60 * 60_000; // a repeated record is recognised for as long as it may be redriven
export const letterBytes = 3 * 1024 * 1024; // all parts of one together; a transaction takes 4 MB
export const letterPartBytes = 300 * 1024; // an item holds 400 KB, a record with two images may have twice that
export const errorText = 2000; // characters of an error kept with a dead letter
export const lettersFreshMs = 30_000; // letters of every consumer are looked for this often, a read each
export const peekRecords = 1000; // how far status looks ahead of a checkpoint
export const lambdaReserveMs = 1000; // no record is begun when a Lambda function has less than this left
