// Limits of the mails that prove an address: how long their tokens work and how often they may be requested.

const minute = 60;
const hour = 60 * minute;

export const resetS = hour; // a mail that somebody else reads tomorrow gives no access
export const verifyS = 24 * hour;
export const signUpS = 24 * hour;
export const emailChangeS = 24 * hour;
export const mailWindowS = hour;
export const mailsPerAddress = 5; // per window and purpose: enough for a mail that was lost twice
export const mailsPerAddressOfAll = 15; // of all senders for one purpose: one sender alone cannot use up the limit
export const mailsPerCaller = 20; // per window; an office behind one address forgets fewer passwords
export const invitationsPerAccount = 200; // per window, to its tenants' users: enough for a school, too few for spam
export const tokensTriedPerCaller = 60; // per quarter of an hour; nobody types a token
export const tokenChars = 120; // an id, a dot and 43 characters
export const clientsPerAddress = 30; // an hour; an app registers once for each computer
export const clientWindowS = 60 * 60;
