// The limits of mail, each with its reason.

export const connectMs = 10_000; // a server that does not respond by then is down
export const idleMs = 30_000; // between two responses of a server; greylisting responds at once
export const detailChars = 300; // of a server's response, for a log line and the outbox
export const filesKept = 200; // of a folder of mails, for looking at the latest ones
export const subjectChars = 200; // mail programs cut a longer one
