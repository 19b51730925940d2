// The limits of the lake, each with its reason.

export const batchRecords = 8000; // of a capture: two seconds of a busy server in few, large files
export const rowsPerBatch = 200; // made before yielding to the event loop: a few milliseconds
export const latestRows = 1000; // of other items, after which a change is read whole: most items change again within milliseconds
export const groupRows = 1000; // encoded before yielding to the event loop: ten milliseconds, on a thread of its own
export const unreachableMs = 30_000; // of failures, before other nodes get the shards: a bucket that throttles is back sooner
export const reachAgainMs = 15_000; // between two attempts to store something after that; nothing waits for them
export const batchBytes = 2 * 1024 * 1024; // of images: enough for a file; a consumer ends a batch at eight megabytes of records
export const flushMs = 2500; // between two small batches of a shard: a change is seen within four seconds, not in its own file

export const manifestStaleMs = 60_000; // after this long without a read, start from the last folded state
export const commitsPerState = 50; // a start reads one state and at most this many commits
export const statesKept = 2; // a reader that has just listed them still finds one
export const commitsKeptMs = 10 * 60_000; // ten times as long as a reader trusts a list without reading it again

// DuckDB's own limit, and the process's: the latter includes memory that DuckDB does not count, and Node's own.
export const callerMemory = { limit: '512MB', rssBytes: 1024 ** 3 };
export const ownMemory = { limit: '256MB', largest: '1GB', rssBytes: 2 * 1024 ** 3 }; // a merge of 200,000 rows; what fails for lack of memory is tried again with the largest
export const duckWatchMs = 20; // memory is filled at some 2 GB a second: 40 MB over the limit
export const duckStartMs = 30_000; // half a second on a quiet machine
export const duckIdleMs = 60_000; // an idle process is ended: it holds 100 MB
export const callerProcesses = 2; // queries of callers at a time; one core is left for everything else
export const callerQueue = 20; // of jobs for its processes; accounts wait in the fair queue before that
export const callerMs = 10_000; // including loading; longer queries need an export and a separate database
export const ownMs = 10 * 60_000; // a compaction of tens of millions of rows

// For an account whose plan has no limits of its own.
export const queryLimit = { rows: 10_000, bytes: 4_000_000, seconds: callerMs / 1000 };
export const queryParams = 100; // values for the placeholders of one query
export const paramChars = 10_000; // of one of them

export const textChangesMs = 60 * 60_000; // how long a changed or removed text stays in a file, before silver is rewritten

export const sqlChars = 20_000; // longer than any query typed by hand
export const resultRows = 10_000; // what a console shows and a script reads at once
export const resultBytes = 4 * 1024 * 1024; // of JSON in one response

export const recentFiles = 40; // a query opens each of them, at about a third of a millisecond
export const recentFilesMost = 200; // of a large silver, whose recent files are merged from 40 on
export const cheapRows = 200_000; // of silver, rewritten in a second or two
export const recentRows = 20_000; // merged at query time; more is cheaper to compact
export const recentShare = 0.1; // of silver: each row is then rewritten about ten times in its life
export const rowGroupRows = 20_000; // rows are sorted by owner, so a query of one owner reads few groups

export const insightRows = 10_000; // of sums; a result over a year of days has a few hundred
export const cachedSums = 200; // results that later ones continue from
export const cachedRows = 1000; // of one of them: a year of days, and twice that; all together 40 MB
export const cachedSumsMs = 10 * 60_000; // few are requested again later, and erased rows must leave this cache too
export const insightDays = 30;
export const insightDaysMost = 400; // a year, and the same month of the year before
export const erasureSettlesMs = 2 * 60 * 60_000; // by then the table's own removals have come through the stream
export const eraseAgainMs = 60 * 60_000; // services erase one after the other; what they remove comes by the stream
export const eraseFiles = 20; // rewritten in one call of an eraser

export const clockSkewMs = 60_000; // machines with a time service differ by far less
export const segments = 16; // of a backfill's scan: what a crash repeats at most
export const historyRows = 200; // changes of one item in a response: more than a person reads
export const historyBytes = 64 * 1024 * 1024; // of the files that are read for it, which contain the changes of all items
export const bronzeDays = 90; // history of every change; silver and gold are kept for as long as there are rows
export const smallFiles = 16; // of one entity and day, before they are merged
export const smallFileBytes = 8 * 1024 * 1024; // above this a file is left as it is
export const garbageMs = 10 * 60_000; // longer than any reader holds a list of files
export const orphanMs = 24 * 60 * 60_000; // an object that no commit names, and none will: its writer died long ago
export const draftMs = 60 * 60_000; // a draft of this age was left by a killed process
export const sweepMs = 60 * 60_000; // listing all objects is expensive
export const eraseLookMs = 60_000; // between two checks for an erasure whose second pass is due
export const keepMs = 2_000; // between two checks for work, while something changes
export const idleLookMs = 60_000; // the same while nothing does, for changes by others: a check is a request or two to a bucket
export const requestLookMs = 10_000; // for requests of other processes; those of this process wake the worker at once
export const requestWaitMs = 2_000; // how long an eraser waits for the maintenance before it returns "more"
export const requestPollMs = 100;
export const requestAgainMs = 10 * 60_000; // within which a repeated request is the same one; erasers repeat it every few seconds
export const requestsRemembered = 10_000; // each takes 100 bytes
export const leaseMs = 60_000; // how long work pauses after its process was killed, if no other process knows that it was
export const requestsPerMinute = 60; // of SQL, for one caller
export const ownQueue = 1000; // insights that wait for each other; each takes milliseconds
export const insightMs = 10_000; // as for a caller's own query
export const cacheBytes = 2 * 1024 * 1024 * 1024; // of a bucket's objects on this machine's disk
export const cacheMs = 24 * 60 * 60_000; // an unread copy of this age may be of an object that was erased elsewhere
// SQL of as many accounts at a time as there are processes. One query of an account runs, four wait for it.
export const queryQueue = { atOnce: callerProcesses, perAccount: 5, waiting: 200 };
// Insights take milliseconds each, and a console asks for a dozen at once.
export const insightQueue = { atOnce: 4, perAccount: 50, waiting: 1000 };
export const conflicts = 20; // of one put in a bucket; each means that another put of the key was in progress

// For Iceberg tables beside the lake's own manifest.
export const partBytes = 16 * 1024 * 1024; // of an upload: one is in memory at a time, and S3 takes 10,000 of them
export const s3ConnectMs = 5_000; // milliseconds in the same region; the handshake is repeated after one and three seconds
export const s3SilenceMs = 60_000; // without a byte in either direction: S3 responds within seconds, and Amazon's CLI waits as long
export const s3Connections = 50; // more make nothing faster; it is also the SDK's own limit
export const s3WriteBytes = 64 * 1024; // of an upload: what has to be sent within `s3SilenceMs`
export const icebergMs = 15_000; // between two snapshots of a table: each is four objects, however much has changed
export const icebergSnapshots = 100; // of a table that only grows; if files are replaced, snapshots end with them
export const icebergManifests = 50; // of a snapshot, before its files are listed in one
export const icebergMetadataKept = 20; // versions of a table's metadata, for readers that have just listed them
export const icebergReads = 8; // footers of new files that are read at a time
export const icebergOrphanMs = 60 * 60_000; // a manifest that no snapshot names, and none will

// Copies of an account's rows, for its own Iceberg catalog.
export const copyBucket = 'stak'; // what an S3 client calls the folder that it may read
export const copySnapshots = 10; // of a table; each is all of an account's rows
export const copyNoteMs = 60 * 60_000; // between two notes that a folder is in use
export const copyNotes = 10_000; // folders that this process remembers to be in use
export const copyUnusedMs = 24 * 60 * 60_000; // made again within seconds on request
export const copyOrphanMs = 10 * 60_000; // a file that is being written has no snapshot yet
export const fileKeyMs = 60 * 60_000; // a key to files outlives the API key by no more than this
export const signatureMs = 15 * 60_000; // the same as on AWS: clocks differ, and a captured signature soon expires
