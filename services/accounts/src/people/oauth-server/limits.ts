// Limits of apps, with the reason for each.

const day = 24 * 60 * 60;

export const registrationBytes = 16 * 1024; // of a client's metadata; those we know send less than 2 KB
export const redirectUris = 10; // of one client: a few environments and a loopback address
export const redirectUriChars = 500;
export const clientNameChars = 60; // a page shows it in one line
export const clientUnusedS = day; // of a client that was never approved: apps ask right after they register
export const clientUsedS = 180 * day; // since its last approval: twice as long as its tokens can last
export const requestS = 10 * 60; // from the app's link to the decision: time to sign in with a second factor
export const requestChars = 6000; // sealed: a redirect address and a state at their longest
export const parameterChars = 1500; // of each parameter; some clients put a signed token in `state`
export const codeMs = 60_000; // an app redeems it at once (RFC 6749, 4.1.2, allows ten minutes)
export const codeListedS = day; // how long a code is remembered: using it again revokes its tokens
export const formBytes = 16 * 1024; // of a request for tokens
