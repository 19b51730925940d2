// Limits of the outbox, with the reason for each.

export const leaseMs = 120_000; // longer than sending may take; how long the mail of an undetected crash waits
export const sendMs = 60_000; // half a lease, so that a result is never written after it
export const attempts = 30; // with the delays below, enough for a mail server that is down for a day
export const retryFirstMs = 5_000;
export const retryMostMs = 60 * 60_000;
export const batch = 5; // mails that one process sends at the same time
export const pollMs = 15_000; // how late mails of other processes, of commands and of delayed indexes are noticed
export const failureChars = 300;
export const keptS = 3 * 24 * 60 * 60; // unless the mail sets a shorter time: an older one is useless
export const detailChars = 300; // of a name, an address or a device in a mail
export const chosenChars = 80; // of a name that one person chose and another reads
export const recipientsAtOnce = 25; // of one notice to the members of an account: their mails are one transaction
export const noticeS = 40 * 24 * 60 * 60; // how long a mailed notice is remembered: longer than a month
export const gatherMs = 60_000; // connections to one server fail together: they are reported in one mail
export const digestEveryMs = 60 * 60_000;
export const digestLostMs = 6 * 60 * 60_000; // a digest not sent by then was given up
export const digestLines = 20; // further ones are only counted
export const noticeAttempts = 20; // of notices that conflict on one digest; then the caller retries
export const unsubscribeTokenChars = 300; // an id and a topic, encrypted
export const unsubscribeBytes = 4 * 1024; // a form of one field
