// Limits of what another server can make us wait for, hold or open.

export const timeoutMs = 10_000; // the whole exchange, from the first name lookup to the last byte
export const connectMs = 5_000; // for one address; an intercontinental handshake takes less than one second
export const fallbackConnectMs = 2_000; // for an address that is followed by another one
export const addressesTried = 3; // if three addresses of a host fail, a fourth will not help
export const lookupMs = 2_000; // for one query to one name server; twice at most
export const lookupTries = 2;
export const responseBytes = 64 * 1024; // no more of the response to a webhook is used
export const headerBytes = 16 * 1024; // Node's own default for a server
export const urlChars = 8_000; // accepted by most servers; a webhook adds the query of its event to its destination
export const headerNames = 1000; // of which it is known whether they may be sent: callers use a few dozen
export const destinationsRead = 1000; // addresses whose parts are known: as many busy destinations
export const knownChars = 256; // of such a name or address, so that all of them are below a megabyte
export const keepAliveMs = 4_000; // below the 5 s after which a Node server closes, so that the two do not race
export const keepAliveMostMs = 30_000; // a server may ask for more, but an idle socket is not worth it
export const requestsInFlight = 10_000; // about 100 MB at 10 KB each; beyond it a queue belongs on disk
// Customers share destinations, such as an automation service: requests that had to wait for a connection would lose
// their time behind slow requests of others. Callers limit their own requests in flight.
export const connectionsPerOrigin = 10_000;
export const interimAnswers = 20; // before the response: two or three are usual, and each costs time to parse
