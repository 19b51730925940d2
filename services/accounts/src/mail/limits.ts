// Everything about the outbox that waits, grows or is tried again, and why it stops where it stops.

export const leaseMs = 120_000; // longer than sending may take; a mail of a crashed worker waits this long where nobody can tell
export const sendMs = 60_000; // half a lease, so that a result is never written after it
export const attempts = 30; // with the delays below, about a day of a mail server that is down
export const retryFirstMs = 5_000;
export const retryMostMs = 60 * 60_000;
export const batch = 5; // mails of one process on their way at the same time
export const pollMs = 15_000; // mails of other processes, of commands and of late indexes are noticed this late
export const failureChars = 300;
export const keptS = 3 * 24 * 60 * 60; // unless the mail itself says less: nobody wants an older one
export const detailChars = 300; // of a name, an address or a device in a mail
export const chosenChars = 80; // of a name that one person chose and another reads
export const recipientsAtOnce = 25; // of a notice to the members of an account: their mails are one transaction
export const noticeS = 40 * 24 * 60 * 60; // how long it is known that a notice was mailed: longer than a month
export const gatherMs = 60_000; // connections to one server fail together: they come in one mail
export const digestEveryMs = 60 * 60_000;
export const digestLostMs = 6 * 60 * 60_000; // a digest that was not sent by then was given up
export const digestLines = 20; // more are counted
export const noticeAttempts = 20; // of notices that meet at one digest; then the caller tries again
export const unsubscribeTokenChars = 300; // an id and a topic, sealed
export const unsubscribeBytes = 4 * 1024; // a form of one field
