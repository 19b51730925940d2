// What is mailed to prove an address, how long it works and how often it may be asked for.

const minute = 60;
const hour = 60 * minute;

export const resetS = hour; // a mailbox that is read over somebody's shoulder tomorrow opens nothing
export const verifyS = 24 * hour;
export const signUpS = 24 * hour;
export const emailChangeS = 24 * hour;
export const mailWindowS = hour;
export const mailsPerAddress = 5; // a window, for one purpose: enough for a mail that was lost twice
export const mailsPerAddressOfAll = 15; // of several senders for one purpose: one alone keeps nobody else from a mail
export const mailsPerCaller = 20; // a window; an office behind one address forgets less
export const invitationsPerAccount = 200; // a window, to users of its tenants: a school signs up in a day, a spammer gives up
export const tokensTriedPerCaller = 60; // a quarter of an hour; nobody types a token
export const tokenChars = 120; // an id, a dot and 43 characters
