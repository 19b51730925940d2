// The limits of a backup. Sizes are before compression.

export const segmentBytes = 8 * 1024 * 1024; // of the log: after a longer outage, several are shipped
export const partBytes = 4 * 1024 * 1024; // of a snapshot
export const readBytes = 256 * 1024; // of a snapshot in one iteration, so that shipping continues meanwhile
export const snapshotRest = 3; // rest per millisecond of work on a snapshot: it must not slow down requests
export const bundledSegments = 500; // a restore fetches one object instead of these
export const bundleBytes = 16 * 1024 * 1024;
export const smallSegmentBytes = 1024 * 1024; // as stored; a larger one gains nothing in a bundle
export const parallelReads = 8; // of a restore: most of the time is spent waiting

export const callMs = 30_000; // one object, put or read
export const headMs = 10_000; // how often the head of the log is written
export const retryMs = { firstMs: 500, mostMs: 15_000 }; // an outage must not cause much work
export const snapshotRetryMs = { firstMs: 5_000, mostMs: 300_000 }; // each attempt reads the store from the start
export const maintenanceMs = 1_000; // how often to check whether a snapshot is due
export const settledMs = 2_000; // a commit gets its time before it can be read: by then it can
export const degradedMs = 60_000; // without shipping, before the server reports it

export const madeMs = 2_000; // how far clocks may differ: a history that started so long before the store was created belongs to another one
export const abandonedMs = 24 * 60 * 60_000; // after which an unfinished snapshot is abandoned

export const claimMs = 60_000; // of the process that ships, if its end cannot be noticed
export const claimAgainMs = 20_000;
