// What apps may register, hold or wait for, and why it stops where it stops.

const day = 24 * 60 * 60;

export const registrationBytes = 16 * 1024; // of a client's metadata; those we know send less than 2 KB
export const redirectUris = 10; // of one client: a few environments and a loopback address
export const redirectUriChars = 500;
export const clientNameChars = 60; // a page shows it in one line
export const clientUnusedS = day; // nobody has approved it: an app asks right after it has registered
export const clientUsedS = 180 * day; // since somebody last approved it: twice as long as its tokens can last
export const clientsPerAddress = 30; // an hour; an app registers once for each computer
export const clientWindowS = 60 * 60;
export const requestS = 10 * 60; // from the app's link to the decision: for signing in with a second factor
export const requestChars = 6000; // sealed: a redirect address and a state at their longest
export const parameterChars = 1500; // of anything that a client sends; some keep a signed token in their state
export const codeMs = 60_000; // an app redeems it at once (RFC 6749, 4.1.2, allows ten minutes)
export const codeListedS = day; // how long a code that is presented again ends what was made with it
export const formBytes = 16 * 1024; // of a request for tokens
