// The history that a store keeps of itself.

const hourMs = 60 * 60_000;

export const keepMs = 24 * hourMs;
export const mostBytes = 1024 * 1024 * 1024; // of all files, compressed; one snapshot more while it is being taken
export const pieceBytes = 256 * 1024; // of a snapshot, read at once: a millisecond or two
export const restPerWork = 3; // milliseconds of rest for each of work on a snapshot: it must not slow down requests
export const behindBytes = 256 * 1024 * 1024; // of the journal: what is not archived by then is lost to the history
export const retryMs = 60_000; // after a failure, such as a full disk
export const leastFreeBytes = 256 * 1024 * 1024; // on the disk: with less, nothing is archived
