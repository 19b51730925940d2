// Everything about a mail that waits or grows, and why it stops where it stops.

export const connectMs = 10_000; // a server that does not answer by then is down
export const idleMs = 30_000; // between two answers of a server; greylisting answers at once
export const detailChars = 300; // of what a server said, for a log line and the outbox
export const filesKept = 200; // of a folder of mails: it is for looking at the last ones
export const subjectChars = 200; // a longer one is cut by mail programs
