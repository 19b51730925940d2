// Limits of sign-in through a provider, with the reason for each.

export const startsPerMinute = 30; // from one address: each writes an item, and a person needs one
export const returnToChars = 1024; // a path of the console with a few parameters
export const callbackChars = 2048; // a code or a state; Google's codes have about 100 characters, Azure's 1,500
export const providerMs = 5_000; // for one request to a provider; a sign-in makes three at most
export const providerBytes = 512 * 1024; // for one answer; a person at GitHub with 100 addresses has 15 KB
export const discoveryMs = 60 * 60_000; // Google's metadata may be cached for an hour
export const issuerChars = 500;
export const clientChars = 500; // of an id or a secret; Azure's have 40, Google's 75
export const domains = 20; // of one organisation
export const domainChars = 253; // what DNS allows
export const subjectChars = 255; // what OpenID Connect allows (core 1.0, section 2)
export const providersKept = 200; // providers of customers that are cached, with their keys
export const failureChars = 300; // of a provider's error, as shown to admins
