// Of a backup. Sizes are before compression.

export const segmentBytes = 8 * 1024 * 1024; // of the log: a longer outage is shipped in several
export const partBytes = 4 * 1024 * 1024; // of a snapshot
export const readBytes = 256 * 1024; // of a snapshot in one turn, so that shipping continues meanwhile
export const snapshotRest = 3; // for each millisecond of work on a snapshot: it must not slow down requests
export const bundledSegments = 500; // a restore fetches one object instead of these
export const bundleBytes = 16 * 1024 * 1024;
export const smallSegmentBytes = 1024 * 1024; // as it is stored; a larger one gains nothing in a bundle
export const parallelReads = 8; // of a restore: most of each is waiting

export const callMs = 30_000; // one object, put or read
export const headMs = 10_000; // how often the head of the log is noted
export const retryMs = { firstMs: 500, mostMs: 15_000 }; // an outage must not make work
export const snapshotRetryMs = { firstMs: 5_000, mostMs: 300_000 }; // each attempt reads the store from its beginning
export const maintenanceMs = 1_000; // how often it is seen whether a snapshot is due
export const settledMs = 2_000; // a commit has its time before it can be read: by then it can
export const degradedMs = 60_000; // without shipping, before the server says so

export const madeMs = 2_000; // that clocks differ: what began so long before a store was made is of another one
export const abandonedMs = 24 * 60 * 60_000; // a snapshot that nobody has finished by then

export const claimMs = 60_000; // of the process that ships, where nobody can tell that it is gone
export const claimAgainMs = 20_000;
